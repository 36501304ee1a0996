"""Which runs a page is about."""

import json

import pytest

from merlin_cl.errors import UsageError
from merlin_cl.report.page.experiments import sort_runs
from merlin_cl.report.page.sources import find, read

from ..made import make_result_file, make_run


def test_folders_that_hold_runs_and_runs_themselves_are_found_once(runs):
    one = next(iter(sorted(runs.iterdir())))
    assert len(find([runs, one])) == 7
    assert find([one]) == [one]


def test_result_files_are_found_in_their_folders(runs, tmp_path):
    kept = tmp_path / "results"
    for folder in runs.iterdir():
        make_result_file(folder, kept / "split-mnist" / f"{folder.name}.json")
    (kept / "split-mnist" / "other.json").write_text('{"nothing": "of ours"}')
    sources = read(find([kept]))
    assert len(sources.runs) == 7
    assert all(run.finished and run.environment for run in sources.runs)


def test_a_run_and_its_result_file_count_once(runs, tmp_path):
    folder = next(iter(sorted(runs.glob("*merlin-s0*"))))
    file = make_result_file(folder, tmp_path / "kept" / f"{folder.name}.json")
    (group,) = sort_runs(read(find([file, folder])).runs, unfinished=False)
    (experiment,) = group.experiments
    assert [run.path for run in experiment.runs] == [folder]  # the folder tells more than the file


def test_a_damaged_run_is_told_of_and_costs_no_other(runs):
    broken = next(iter(sorted(runs.iterdir())))
    (broken / "result.json").write_text("{")
    sources = read(find([runs]))
    assert len(sources.runs) == 6
    assert len(sources.problems) == 1
    assert broken.name in sources.problems[0]


def test_a_result_of_another_shape_is_a_problem_and_no_crash(tmp_path):
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(["no", "result"]))
    assert len(read([file]).problems) == 1


@pytest.mark.parametrize("make", [False, True])
def test_a_place_without_runs_is_refused_with_advice(tmp_path, make):
    place = tmp_path / "nowhere"
    if make:
        place.mkdir()
    with pytest.raises(UsageError, match="nowhere"):
        find([place])


def test_reading_tells_how_far_it_is(runs):
    told = []
    read(find([runs]), lambda done, total: told.append((done, total)))
    assert told == [(place, 7) for place in range(1, 8)]


def test_unfinished_runs_have_what_they_found_so_far(tmp_path):
    (run,) = read([make_run(tmp_path, done=2)]).runs
    assert not run.finished
    assert run.result["tasks"] == 2
    assert len(run.result["scores"][0]["matrix"]) == 2
