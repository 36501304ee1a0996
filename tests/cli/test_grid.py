"""`merlin grid` from the shell: what it prints, what it refuses, how it ends."""

import json

import pytest

GRID = """
streams = [{name = "split-mnist", tasks = 2, images_per_task = 20}]
methods = ["single", {name = "er", exemplars = [5, 9]}]
seeds = 2
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


def test_a_dry_run_lists_what_would_be_computed_and_computes_nothing(merlin, file, tmp_path):
    code, out, err = merlin("grid", file, "--dry-run")
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["queued", f"split-mnist-{method}-s{seed}-..."] for seed in range(2) for method in ("single", "er", "er")
    ]
    assert "6 runs, engine local" in err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--store", "s3://bucket"], "--store is for --engine ray"),
        (["--address", "auto"], "--address is for --engine ray"),
        (["--engine", "ray", "--workers", "2"], "--workers is for --engine local"),
        (["--workers", "0"], "workers is 0"),
        (["--retries", "-1"], "retries is -1"),
        (["--engine", "cloud"], "cannot be 'cloud'"),
        (["--engnie", "local"], "did you mean '--engine'"),
    ],
)
def test_options_that_make_no_sense_are_refused(merlin, file, arguments, words):
    code, out, err = merlin("grid", file, *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_a_file_with_a_mistake_starts_nothing(merlin, file, tmp_path):
    file.write_text(GRID.replace("exemplars = [5, 9]", "exemplars = [5, 0]"))
    code, _, err = merlin("grid", file)
    assert code == 2
    assert err == f"merlin: {file}: methods, entry 2 (er): exemplars is 0; it must be at least 1.\n"
    assert not (tmp_path / "runs").exists()


def test_failed_runs_are_named_with_their_reason_and_the_others_are_shown(merlin, file, tmp_path, monkeypatch):
    from merlin_cl.runs.engines import choice
    from runs.test_grid import HereEngine

    def engine_for(name, root, *rest):
        return HereEngine(root, {1: ["no room left on this disk"] * 3})

    monkeypatch.setattr(choice, "engine_for", engine_for)
    file.write_text(GRID.replace('methods = ["single", {name = "er", exemplars = [5, 9]}]', 'methods = ["single"]'))
    code, out, err = merlin("grid", file, "--retries", "1")
    assert code == 1
    assert "single" in out
    assert "Failed after 2 tries: split-mnist-single-s1-: no room left on this disk" in err
    assert "1 of 2 runs failed; the same command tries these again and nothing else." in err
    code, out, _ = merlin("grid", file, "--retries", "0", "--json")
    assert code == 1
    assert [(run["seed"], run["status"]) for run in json.loads(out)] == [(0, "done"), (1, "failed")]
