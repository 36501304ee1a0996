"""`merlin reproduce` from the shell, on what the package brings along."""

import csv

import pytest

from merlin_cl.paper.experiment import experiment_names
from merlin_cl.runs.engines import choice
from runs.test_grid import HereEngine


@pytest.fixture(autouse=True)
def without_data(monkeypatch, tmp_path):
    """No data sets but the embedded slice, and runs in this process."""
    monkeypatch.delenv("MERLIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(choice, "engine_for", lambda name, root, *rest: HereEngine(root))


def test_without_a_name_all_tables_and_figures_are_listed(merlin):
    for arguments in ([], ["list"]):
        code, out, _ = merlin("reproduce", *arguments)
        assert code == 0
        assert [line.split()[1].rstrip(":") for line in out.splitlines()] == experiment_names()
    assert all(name in merlin("reproduce", "--help")[1] for name in [*experiment_names(), "all"])


def test_a_table_is_computed_once_and_written_in_every_form(merlin, tmp_path):
    command = ("reproduce", "main", "--streams", "split-mnist", "--methods", "single", "--quick", "--out", "here")
    code, out, err = merlin(*command)
    assert code == 0, err
    assert "QUICK LOOK" in out
    assert "73.90" in out  # the paper's, over the first two tasks
    names = {path.name for path in (tmp_path / "here").iterdir()}
    assert names == {"runs", *(f"main-quick.{suffix}" for suffix in ("csv", "md", "tex", "svg", "pdf"))}
    assert (tmp_path / "here" / "runs" / "grid.json").is_file()
    rows = list(csv.DictReader((tmp_path / "here" / "main-quick.csv").read_text().splitlines()))
    assert [(row["measure"], row["seeds"]) for row in rows] == [("A", "1"), ("F", "1")]
    code, again, err = merlin(*command)
    assert (code, again) == (0, out)
    assert "1 of 1 runs are finished already." in err


def test_streams_without_data_are_left_out_with_the_reason_unless_asked_for(merlin):
    command = ("reproduce", "main", "--methods", "single", "--quick")
    code, out, err = merlin(*command)
    assert code == 0, err
    assert "Left out: single on split-cifar10." in err
    assert "Not run, split-cifar10:" in out
    assert "not run" in out
    assert merlin(*command, "--streams", "split-cifar10")[0] == 1


def test_sizes_need_no_run(merlin, tmp_path):
    code, out, _ = merlin("reproduce", "params", "--streams", "split-mnist")
    assert code == 0
    assert "31,426" in out
    assert not (tmp_path / "reproduced" / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mian"], "did you mean 'main'"),
        (["main", "--streams", "split-mnits"], "did you mean 'split-mnist'"),
        (["main", "--seeds", "0"], "seeds is 0"),
        (["main", "--methods", "er"], "method of main 'er'"),
    ],
)
def test_what_makes_no_sense_is_refused(merlin, arguments, words):
    code, out, err = merlin("reproduce", *arguments)
    assert (code, out) == (2, "")
    assert words in err
