"""A path in place of a stream's name: recorded with a checksum, so that it may be moved but not changed."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cli.test_bad_input import assert_one_sentence
from merlin_cl.cli.run import configured
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.protocol import StreamInfo


def write_images(folder, classes="abcdef", count=6):
    for place, name in enumerate(classes):
        (folder / name).mkdir(parents=True)
        for number in range(count):
            pixels = np.random.default_rng([place, number]).integers(0, 256, (4, 4, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")
    return folder


def write_table(path, rows=60):
    lines = ["a,b,y,site"]
    draws = np.random.default_rng(0).normal(size=(rows, 2))
    for row, (a, b) in enumerate(draws):
        lines.append(f"{a:.4f},{b:.4f},{'xyz'[row % 3]},{row * 3 // rows}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_arrays(path):
    np.savez(path, x=np.random.default_rng(0).normal(size=(40, 5)), y=np.arange(40) % 4 + 100)
    return path


def write_saved(folder, first=0.0):
    library = pytest.importorskip("datasets")
    a = np.arange(first, first + 40)
    columns = {"a": a, "b": np.random.default_rng(0).normal(size=40), "label": ["u", "v", "w", "x"] * 10}
    library.Dataset.from_dict(columns).save_to_disk(str(folder))
    return folder


@pytest.fixture(params=["images", "table", "arrays", "huggingface"])
def own(request, tmp_path):
    """Data in a file or folder, and the options they need."""
    if request.param == "huggingface":
        return write_saved(tmp_path / "saved"), ["--tasks", "2"]
    if request.param == "images":
        return write_images(tmp_path / "data" / "my images"), ["--tasks", "3"]
    if request.param == "table":
        return write_table(tmp_path / "my_table.csv"), ["--label", "y", "--task-column", "site"]
    return write_arrays(tmp_path / "my_arrays.npz"), ["--tasks", "2", "--class-order", "shuffled"]


def only_run():
    (folder,) = Path("runs").iterdir()
    return folder


def test_a_path_is_run_recorded_and_shown(merlin, own):
    path, options = own
    code, out, err = merlin("run", path, *options, "--method", "means")
    assert code == 0, err
    folder, title = only_run(), path.stem.replace(" ", "-")
    assert folder.name.startswith(f"{title}-means-s0-")
    assert title in out
    record = json.loads((folder / "config.json").read_text())
    assert record["stream"]["name"] == title
    assert record["stream"]["kind"] in ("folder", "table", "arrays", "huggingface")
    assert record["data"] == str(path)
    assert record["fingerprint"] in record["source"]
    assert str(path.parent) not in record["source"]
    for command in (["list"], ["show", folder], ["diagnose", folder], ["resume", folder]):
        assert merlin(*command)[0] == 0
    (row,) = {row["stream"] for row in json.loads(merlin("show", folder, "--json")[1])["summary"]}
    assert row == title
    assert "finished" in merlin("run", path, *options, "--method", "means")[2]


def test_data_may_be_moved_but_not_changed(merlin, own, tmp_path):
    path, options = own
    merlin("run", path, *options, "--method", "means")
    folder = only_run()
    (folder / "result.json").unlink()
    moved = path.rename(tmp_path / f"moved{path.suffix}")
    code, _, err = merlin("resume", folder)
    assert code == 2
    assert f"{path} with the data of {folder} is not there" in err
    assert_one_sentence(err)
    assert merlin("resume", folder, "--data", moved)[0] == 0
    (folder / "result.json").unlink()
    if (moved / "dataset_info.json").is_file():
        shutil.rmtree(moved)
        write_saved(moved, first=0.5)
    elif moved.is_dir():
        Image.new("RGB", (4, 4)).save(moved / "a" / "0.png")
    elif moved.suffix == ".csv":
        moved.write_text(moved.read_text().replace("0.1257", "0.1258"))
    else:
        np.savez(moved, x=np.random.default_rng(1).normal(size=(40, 5)), y=np.arange(40) % 4 + 100)
    code, _, err = merlin("resume", folder, "--data", moved)
    assert code == 1
    assert "was begun with other data" in err
    assert_one_sentence(err)


def test_a_moved_folder_is_the_same_run(merlin, tmp_path):
    path = write_images(tmp_path / "one" / "images")
    merlin("run", path, "--tasks", "3", "--method", "means")
    (tmp_path / "two").mkdir()
    code, _, err = merlin("run", path.rename(tmp_path / "two" / "images"), "--tasks", "3", "--method", "means")
    assert code == 0
    assert "This run is finished" in err


def test_seeds_of_own_data_are_put_together(merlin, tmp_path):
    path = write_table(tmp_path / "t.csv")
    for seed in (0, 1):
        options = ["--label", "y", "--task-column", "site", "--method", "single", "--seed", seed]
        assert merlin("run", path, *options)[0] == 0
    rows = json.loads(merlin("show", *Path("runs").iterdir(), "--json")[1])["summary"]
    assert [row["seeds"] for row in rows] == [[0, 1]]
    assert rows[0]["changed"] == {"label": "y", "task_column": "site"}


def test_presets_know_that_domains_change(tmp_path):
    path = write_table(tmp_path / "t.csv", rows=30)
    domains = configured([str(path), "--label", "y", "--task-column", "site", "--models", "7"])[1]
    classes = configured([str(path), "--label", "y", "--tasks", "3"])[1]
    info = StreamInfo("t", (2,), classes=3, tasks=3, domain_incremental=True)
    assert domains.method == replace(MerlinSettings.preset("default", info), models=7)
    assert classes.method == MerlinSettings.preset("default", replace(info, domain_incremental=False))


def test_a_network_of_ones_own(merlin, tmp_path):
    (tmp_path / "tiny_net.py").write_text(
        "from torch import nn\ndef net(shape, classes): return nn.Linear(shape[0], classes)\n"
    )
    path = write_arrays(tmp_path / "a.npz")
    code, _, err = merlin("run", path, "--tasks", "2", "--method", "single", "--network", "tiny_net:net")
    assert code == 0, err
    result = json.loads((only_run() / "result.json").read_text())
    assert result["parameters"]["classifier"] == 24
    assert result["settings"]["method"]["network"] == "tiny_net:net"


BAD = [
    (["./nowhere"], 2, "nowhere is neither a file nor a folder"),
    (["nowhere.csv"], 2, "nowhere.csv is not there"),
    (["notes.txt"], 2, "notes.txt is a file of a form that is not known"),
    (["t.csv"], 2, "t.csv has no column 'label'"),
    (["t.csv", "--label", "y"], 2, "--tasks N"),
    (["t.csv", "--label", "y", "--task-column", "sit"], 2, "did you mean 'site'?"),
    (["t.csv", "--label", "y", "--tasks", "9"], 2, "tasks is 9, but t.csv has 3 classes"),
    (["t.csv", "--label", "y", "--tasks", "3", "--data", "."], 2, "--data is for streams"),
    (["t.csv", "--lable", "y"], 2, "did you mean '--label'?"),
    (["images"], 2, "--tasks N"),
    (["images", "--tasks", "2", "--image-size", "-1"], 2, "image_size is -1"),
    (["images", "--task-classes", "a,b", "c,q"], 2, "Unknown class of images 'q'"),
    (["a.npy"], 2, "is a file of a form that is not known"),
    (["torn.npz", "--tasks", "2"], 1, "torn.npz cannot be read as arrays"),
    (["one.npz", "--tasks", "2"], 1, "one.npz has no arrays x and y"),
]


@pytest.mark.parametrize(("arguments", "expected_code", "expected"), BAD, ids=[" ".join(case[0]) for case in BAD])
def test_bad_paths_are_named_before_anything_is_written(merlin, tmp_path, arguments, expected_code, expected):
    write_table(tmp_path / "t.csv")
    write_images(tmp_path / "images")
    write_arrays(tmp_path / "whole.npz")
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "a.npy").touch()
    (tmp_path / "torn.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:300])
    np.savez(tmp_path / "one.npz", z=np.zeros(3))
    code, out, err = merlin("run", *arguments, "--method", "means")
    assert (code, out) == (expected_code, "")
    assert expected in err
    assert_one_sentence(err)
    assert not Path("runs").exists()
