"""A run that diverges ends with exit code 1 and a sentence, and keeps what it had."""

import json

import numpy as np
import pytest

GEM = ["--method", "gem", "--no-standardise", "--hidden-units", "8", "--learning-rate", "0.5"]


@pytest.fixture
def own(tmp_path):
    """Data of two tasks, the second with inputs of another size altogether."""
    draws = np.random.default_rng(0)
    x = np.concatenate([draws.normal(size=(60, 4)), 1e5 * draws.normal(size=(60, 4))])
    y, task = np.repeat([0, 2], 60) + np.arange(120) % 2, np.repeat([0, 1], 60)
    np.savez(tmp_path / "own.npz", x=x, y=y, task=task)
    return "own.npz"


def test_a_run_that_diverges_at_once_says_so(merlin):
    code, out, err = merlin(
        "run", "split-mnist", "--method", "single", "--tasks", "2", "--images-per-task", "20", "--learning-rate", "1e30"
    )
    assert (code, out) == (1, "")
    sentence = "single diverged while learning task 0, as numbers that it has learned are no longer finite; lower"
    assert f"merlin: {sentence} learning_rate (1e+30), and begin anew.\n" in err
    assert "Traceback" not in err
    code, out, err = merlin("show")
    assert (code, out) == (2, "")
    assert f"failed in its first task: {sentence}" in err
    assert "failed, 0 of 2 tasks" in merlin("list")[1]


def test_a_run_that_diverges_later_keeps_the_tasks_done(merlin, own):
    code, out, err = merlin("run", own, *GEM)
    assert (code, out) == (1, "")
    assert "The tasks done before are kept; `merlin show runs/own-gem-s0-" in err
    assert "scale the inputs, of which the largest is" in err
    code, out, err = merlin("show")
    assert (code, err.count("\n")) == (0, 1)
    assert "is not finished; the tasks it has done come first." in err
    assert "failed after 1 of 2 tasks: gem diverged while learning task 1, as " in out
    assert "class-incremental" in out
    assert "failed, 1 of 2 tasks" in merlin("list")[1]
    (shown,) = json.loads(merlin("show", "--json")[1])["unfinished"]
    assert (shown["state"], shown["done"], shown["tasks"]) == ("failed", 1, 2)
    assert len(shown["result"]["scores"][0]["learning_curve"]) == 1


def test_it_diverges_again_where_it_goes_on(merlin, own, tmp_path):
    merlin("run", own, *GEM)
    (folder,) = (tmp_path / "runs").iterdir()
    code, _, err = merlin("resume", folder)
    assert code == 1
    assert "merlin: gem diverged while learning task 1" in err


def test_finished_runs_are_shown_beside_it(merlin, own, small):
    merlin("run", own, *GEM)
    merlin(*small)
    code, out, err = merlin("show")
    assert code == 0
    assert "failed after 1 of 2 tasks" in out
    assert "split-mnist" in out
    assert "Next: merlin diagnose runs/split-mnist-means" in err


def test_merlin_takes_a_first_task_of_one_class(merlin, tmp_path):
    draws = np.random.default_rng(0)
    y = np.r_[np.zeros(30, dtype=int), 1 + np.arange(60) % 2]
    np.savez(tmp_path / "one.npz", x=draws.normal(size=(90, 4)) + 3 * y[:, None], y=y, task=(y > 0).astype(int))
    code, out, _ = merlin("run", "one.npz", "--models", "3", "--base-models", "2", "--fine-tune-epochs", "5", "--json")
    assert code == 0
    result = json.loads(out)
    for score in result["scores"]:
        assert min(score["learning_curve"]) > 50, score
    assert "NaN" not in out
