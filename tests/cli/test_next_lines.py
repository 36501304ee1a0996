"""What a command says to type next can be typed: quoted, and meant for the data that were used."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from cli.test_own_data import write_table
from merlin_cl.cli.run import configured
from merlin_cl.runs.folder import RunFolder

ODD = ["my runs", "Läufe", "it's $HOME; `true`", "-dashed"]


def lines_of(err):
    """The commands in what was said: after `Next:`, or between backquotes."""
    commands = []
    for line in err.splitlines():
        if "ext: " in line:
            commands += re.split(r"   or   ", line.partition("ext: ")[2])
    return [shlex.split(line) for line in commands]


@pytest.mark.parametrize("name", ODD)
def test_lines_to_type_next_are_quoted(merlin, small, name):
    out = ["--out=-dashed"] if name.startswith("-") else ["--out", name]
    code, _, err = merlin(*small, *out)
    assert code == 0
    folder = next(Path(name).iterdir())
    lines = lines_of(err)
    assert [line[1] for line in lines] == ["show", "diagnose"]
    for line in lines:
        assert line[0] == "merlin"
        assert Path(line[2]) == folder
        assert merlin(*line[1:])[0] == 0
    listed = [name] if not name.startswith("-") else [f"./{name}"]
    assert lines_of(merlin("list", *listed)[2]) == [
        ["merlin", "show", f"./{folder}" if name[0] == "-" else str(folder)]
    ]
    (line,) = lines_of(merlin("show", *listed)[2])
    assert line[1] == "diagnose"
    (control,) = lines_of(merlin(*line[1:])[2])
    assert Path(control[control.index("--out") + 1]) == Path(name)
    (folder / "result.json").unlink()
    said = re.findall(r"; `(merlin resume .*)` goes on\.", "\n".join(merlin("show", *listed)[1:]))
    assert merlin(*shlex.split(said[0])[1:])[0] == 0


@pytest.mark.parametrize("name", ["my wines.csv", "Wein & Käse.csv", "table.csv"])
def test_diagnose_of_ones_own_data_names_them(merlin, name):
    Path("data").mkdir()
    table = write_table(Path("data") / name)
    code, out, err = merlin("run", table, "--label", "y", "--task-column", "site", "--method", "means", "--json")
    assert code == 0, err
    folder = json.loads(out)["folder"]
    (line,) = lines_of(merlin("diagnose", folder)[2])
    assert line[:3] == ["merlin", "run", str(table.resolve())]
    options, config = configured(line[2:])
    original = RunFolder(Path(folder)).config()
    assert (config.stream, config.data, config.seed) == (original.stream, original.data, original.seed)
    assert config.method.method == "gdumb-ensemble"
    assert options.out == Path(folder).parent
    code, _, err = merlin(*line[1:], "--models", "2", "--fine-tune-epochs", "1")
    assert code == 0, err
    assert json.loads(merlin("diagnose", folder, "--json")[1])["control"] is not None


def test_data_that_were_named_are_named_again(merlin, small, tmp_path):
    from streams import official

    official.write_mnist(tmp_path / "Bilder von uns" / "MNIST" / "raw")
    code, out, err = merlin(*small, "--data", tmp_path / "Bilder von uns", "--json")
    assert code == 0, err
    (line,) = lines_of(merlin("diagnose", json.loads(out)["folder"])[2])
    assert line[line.index("--data") + 1] == str(tmp_path / "Bilder von uns")


def test_arrays_of_ones_own_work_too(merlin):
    np.savez("my arrays.npz", x=np.random.default_rng(0).normal(size=(40, 5)), y=np.arange(40) % 4)
    code, out, err = merlin("run", "my arrays.npz", "--tasks", "2", "--method", "means", "--json")
    assert code == 0, err
    (line,) = lines_of(merlin("diagnose", json.loads(out)["folder"])[2])
    assert configured(line[2:])[1].stream.tasks == 2
