"""What the tables say, from results made by hand."""

import io

import pytest
from rich.console import Console

from merlin_cl.metrics import METRICS, learning_curve
from merlin_cl.report.summary import contests, summarise
from merlin_cl.report.tables import (
    calibration_table,
    contests_table,
    facts_of,
    other_kinds_table,
    scores_caption,
    scores_table,
)
from merlin_cl.streams.registry import stream_settings

MATRIX = [[100.0, None], [80.0, 90.0]]


def result(seed=0, matrix=MATRIX, stream=None, uncertainty=None, **changed):
    settings = {"name": "split-mnist", **stream_settings("split-mnist")().record(), **(stream or {})}
    score = {"view": "class-incremental", "inference": "aggregate", "matrix": matrix}
    score |= {name: metric(matrix) for name, metric in METRICS.items()} | {"learning_curve": learning_curve(matrix)}
    if uncertainty is not None:  # results of before it was measured have no such entry
        score["uncertainty"] = uncertainty
    return {
        "stream": "split-mnist", "method": "merlin", "preset": "default", "seed": seed, "tasks": 2, "source": "somewhere",
        "batch_size": 10, "exemplars": 200, "updates_per_batch": 1,
        "settings": {"stream": settings, "method": {"name": "merlin"}, "inference": "all", "device": "cpu", "threads": 1},
        "scores": [score],
        "cost": {"stored_bytes": {"exemplars": 1000, "priors": 500}},
    } | changed  # fmt: skip


MEASURED = {
    "nll": [0.1, 0.4286], "brier": [0.05, 0.17], "ece": [1.0, 4.506], "risks": [0.5 * share for share in range(10)],
    "risk_area": 2.13, "reliability": [[2, 60.0, 50.0]], "other": {"notmnist": {"total": 72.04, "epistemic": 71.1}},
}  # fmt: skip


def printed(*parts, width=100):
    out = io.StringIO()
    Console(width=width, file=out).print(*parts)
    return out.getvalue()


def text(rows):
    return printed(scores_table(rows), scores_caption(rows))


def test_seeds_of_one_experiment_become_one_row():
    rows = summarise([result(0), result(1, [[90.0, None], [70.0, 80.0]])])
    assert len(rows) == 1
    assert rows[0].seeds == [0, 1]
    assert rows[0].mean["average_incremental_accuracy"] == pytest.approx((92.5 + 82.5) / 2)
    assert rows[0].std["average_incremental_accuracy"] == pytest.approx(50**0.5)
    assert rows[0].stored_bytes == 1500
    assert "87.50" in text(rows)
    assert "± 7.07" in text(rows)


@pytest.mark.parametrize("nothing", [{}, None])
def test_what_is_stored_is_not_stated_rather_than_nothing(nothing):
    silent = result(1, cost={"stored_bytes": nothing, "cpu_seconds": {}, "peak_rss_bytes": 0}, parameters={})
    (row,) = summarise([result(0), silent])
    assert row.stored_bytes is None
    for shown in (text([row]), facts_of(silent)):
        assert "not stated" in shown
        assert "0 B:" not in shown


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


def test_what_probabilities_were_worth_stands_beside_the_accuracies():
    other = MEASURED | {"nll": [0.1, 0.6], "other": {"notmnist": {"total": 60.0}}}
    rows = summarise([result(0, uncertainty=MEASURED), result(1, uncertainty=other), result(2)])
    assert rows[0].mean["nll"] == pytest.approx((0.4286 + 0.6) / 2)  # of the seeds that have it
    assert rows[0].values["auroc_epistemic_notmnist"] == {0: 71.1}
    assert rows[0].mean["auroc_total_notmnist"] == pytest.approx(66.02)
    assert "0.514" in text(rows)
    assert "4.51" in text(rows)
    assert "NLL: negative log-likelihood" in text(rows)


def test_results_of_before_it_was_measured_and_methods_without_probabilities_are_shown_without():
    without = result()
    without["scores"][0]["uncertainty"] = None
    for one in (result(), without):
        rows = summarise([one])
        assert rows[0].mean["nll"] is None
        assert "negative log-likelihood" not in text(rows)
        assert calibration_table(one) is None
        assert other_kinds_table(one) is None


def test_one_run_in_detail():
    one = result(uncertainty=MEASURED)
    found = printed(calibration_table(one), other_kinds_table(one), width=80)
    for figure in ("0.429", "0.170", "4.51", "0.50", "2.00", "3.50", "4.50", "2.13", "72.04", "71.10"):
        assert figure in found
    resumed = result(uncertainty={"nll": [None, 0.3], "brier": [None, 0.1], "ece": [None, 2.0]})
    assert "0.300" in printed(calibration_table(resumed))
    assert other_kinds_table(resumed) is None


def one_run(method, modes):
    one = result(method=method, stream={"name": "permuted-mnist"}) | {"stream": "permuted-mnist"}
    one["settings"]["method"] = {"name": method}
    score = one["scores"][0] | {"view": "domain-incremental", "uncertainty": MEASURED}
    return one | {"scores": [score | {"inference": mode} for mode in modes]}


@pytest.mark.parametrize(
    ("method", "modes"), [("merlin", ("marginal", "aggregate", "aware")), ("gdumb-ensemble", (None,))]
)
def test_the_table_of_one_run_takes_no_more_than_eighty_columns(method, modes):
    rows = summarise([one_run(method, modes)])
    assert printed(scores_table(rows), width=80) == printed(scores_table(rows), width=200)


def test_a_longer_name_costs_no_figure_a_digit():
    found = printed(scores_table(summarise([one_run("generative-replay", (None,))])), width=80)
    assert {"generative-replay", "92.50", "85.00", "20.00", "0.429", "4.51"} <= set(found.split())
