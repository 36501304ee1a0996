"""What the tables say, from results made by hand."""

import io

import pytest
from rich.console import Console

from merlin_cl.metrics import METRICS, learning_curve
from merlin_cl.report.summary import contests, summarise
from merlin_cl.report.tables import contests_table, scores_caption, scores_table
from merlin_cl.streams.registry import stream_settings

MATRIX = [[100.0, None], [80.0, 90.0]]


def result(seed=0, matrix=MATRIX, stream=None, **changed):
    settings = {"name": "split-mnist", **stream_settings("split-mnist")().record(), **(stream or {})}
    score = {"view": "class-incremental", "inference": "aggregate", "matrix": matrix}
    score |= {name: metric(matrix) for name, metric in METRICS.items()} | {"learning_curve": learning_curve(matrix)}
    return {
        "stream": "split-mnist", "method": "merlin", "preset": "default", "seed": seed, "tasks": 2, "source": "somewhere",
        "batch_size": 10, "exemplars": 200, "updates_per_batch": 1,
        "settings": {"stream": settings, "method": {"name": "merlin"}, "inference": "all", "device": "cpu", "threads": 1},
        "scores": [score],
        "cost": {"stored_bytes": {"exemplars": 1000, "priors": 500}},
    } | changed  # fmt: skip


def text(rows):
    out = io.StringIO()
    Console(width=100, file=out).print(scores_table(rows), scores_caption(rows))
    return out.getvalue()


def test_seeds_of_one_experiment_become_one_row():
    rows = summarise([result(0), result(1, [[90.0, None], [70.0, 80.0]])])
    assert len(rows) == 1
    assert rows[0].seeds == [0, 1]
    assert rows[0].mean["average_incremental_accuracy"] == pytest.approx((92.5 + 82.5) / 2)
    assert rows[0].std["average_incremental_accuracy"] == pytest.approx(50**0.5)
    assert rows[0].stored_bytes == 1500
    assert "87.50" in text(rows)
    assert "± 7.07" in text(rows)


@pytest.mark.parametrize(
    "change", [{"preset": "paper"}, {"source": "elsewhere"}, {"batch_size": 5}, {"stream": {"images_per_task": 3}}]
)
def test_other_experiments_keep_a_row_of_their_own(change):
    assert len(summarise([result(0), result(1, **change)])) == 2


def test_the_paper_is_beside_only_where_the_stream_is_the_papers():
    assert summarise([result()])[0].paper.mean == 90.7
    assert "90.70" in text(summarise([result()]))
    for change in ({"tasks": 3}, {"evaluation": "held-out"}):
        rows = summarise([result(stream=change)])
        assert rows[0].paper is None
        assert "90.70" not in text(rows)
        assert f"[1] {next(iter(change))} {next(iter(change.values()))}" in text(rows)


def test_results_of_streams_and_methods_not_installed_here_can_be_shown():
    foreign = result(stream={"name": "elsewhere"}) | {"stream": "elsewhere", "method": "unheard-of"}
    rows = summarise([foreign])
    assert rows[0].paper is None
    assert "unheard-of" in text(rows)


def _methods(accuracies):
    """A result of two seeds for each method: both accuracies of its matrix are the one given, in the order of seeds."""
    found = []
    for method, values in accuracies.items():
        for seed, value in enumerate(values):
            one = result(seed, [[value, None], [value, value]], method=method)
            one["settings"]["method"] = {"name": method}
            found.append(one)
    return found


def test_every_method_is_compared_with_the_best_seed_by_seed():
    rows = summarise(_methods({"single": [40.0, 41.0], "merlin": [90.0, 92.0], "er": [89.0, 90.5]}))
    found = contests(rows)
    assert [(contest.row.method, contest.best.method) for contest in found] == [("single", "merlin"), ("er", "merlin")]
    assert [contest.outcome.difference for contest in found] == [-50.5, -1.25]
    out = io.StringIO()
    Console(width=100, file=out).print(contests_table(found, rows))
    assert "-50.50" in out.getvalue()
    assert "0.126" in out.getvalue()  # p of differences -1 and -1.5: t = 5 with one degree of freedom


def test_what_is_told_the_task_is_not_compared_with_what_is_not():
    told = [one | {"scores": [one["scores"][0] | {"inference": "aware"}]} for one in _methods({"merlin": [99.0, 98.0]})]
    assert contests(summarise([*told, *_methods({"single": [40.0, 41.0]})])) == []


def test_the_interval_is_beside_the_mean():
    assert "[73.41, 101.59]" not in text(summarise([result()]))
    rows = summarise([result(0), result(1, [[90.0, None], [70.0, 80.0]])])
    assert rows[0].half_width["average_incremental_accuracy"] == pytest.approx(12.706 * 50**0.5 / 2**0.5, abs=0.01)
    assert "[23.97," in text(rows)
