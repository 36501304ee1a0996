"""What the tables say, from results made by hand."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from merlin_cl.metrics import BOUNDS, METRICS, holm, learning_curve, paired
from merlin_cl.report.summary import contests, summarise
from merlin_cl.report.tables import (
    calibration_table,
    contests_tables,
    facts_of,
    other_kinds_table,
    scores_caption,
    scores_tables,
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


def text(rows, width=200):
    return printed(*scores_tables(rows, width), scores_caption(rows), width=width)


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
    assert "90.7 " in text(summarise([result()]))
    for change in ({"tasks": 3}, {"evaluation": "held-out"}):
        rows = summarise([result(stream=change)])
        assert rows[0].paper is None
        assert "90.7 " not in text(rows)
        assert f"[1] {next(iter(change))} {next(iter(change.values()))}" in text(rows)


def test_results_of_streams_and_methods_not_installed_here_can_be_shown():
    foreign = result(stream={"name": "elsewhere"}) | {"stream": "elsewhere", "method": "unheard-of"}
    rows = summarise([foreign])
    assert rows[0].paper is None
    assert "unheard-of" in text(rows)


def _methods(accuracies):
    """A result of two seeds for each method: both accuracies of its matrix are the one given, in the order of seeds."""
    names = []
    for method, values in accuracies.items():
        for seed, value in enumerate(values):
            one = result(seed, [[value, None], [value, value]], method=method)
            one["settings"]["method"] = {"name": method}
            names.append(one)
    return names


FIVE = {
    "single": [40.0, 41.0, 40.0, 42.0, 41.0],
    "merlin": [90.0, 92.0, 91.0, 90.5, 91.5],
    "er": [89.0, 90.5, 90.0, 89.0, 90.7],
}


def test_every_method_is_compared_with_the_best_seed_by_seed():
    rows = summarise(_methods(FIVE))
    held = contests(rows)
    assert [(contest.row.method, contest.best.method) for contest in held] == [("single", "merlin"), ("er", "merlin")]
    assert [contest.outcome.difference for contest in held] == pytest.approx([-50.2, -1.16])
    shown = printed(*contests_tables(held, rows))
    assert "-50.20" in shown
    assert "p (Holm)" in shown


def test_p_values_are_corrected_over_the_table():
    rows = summarise(_methods(FIVE))
    alone = [paired(FIVE_BY_SEED[name], FIVE_BY_SEED["merlin"]).p_value for name in ("single", "er")]
    assert [contest.outcome.p_value for contest in contests(rows)] == pytest.approx(holm(alone))
    assert contests(rows)[1].outcome.p_value == pytest.approx(alone[1])  # the larger of the two
    assert contests(rows)[0].outcome.p_value == pytest.approx(2 * alone[0])


FIVE_BY_SEED = {name: dict(enumerate(values)) for name, values in FIVE.items()}


def test_fewer_than_five_seeds_have_differences_but_neither_interval_nor_p_value():
    rows = summarise(_methods({name: values[:2] for name, values in FIVE.items()}))
    held = contests(rows)
    assert [contest.outcome.p_value for contest in held] == [None, None]
    shown = printed(*contests_tables(held, rows), *scores_tables(rows, 200))
    assert "-1.25" in shown
    assert "p (Holm)" not in shown
    assert "interval" not in shown


def test_rows_are_ranked_by_accuracy_and_a_ceiling_is_not():
    rows = summarise(_methods({"merlin": [90.0], "joint": [97.0], "single": [40.0], "cn-dpm": [96.0]}))
    (table,) = scores_tables(rows, 200)
    words = [line.split()[:2] for line in printed(table).splitlines()]
    names = [(first[0], first[1].strip(",")) for first in words if first and first[0] in "123–"]
    assert names == [("1", "cn-dpm"), ("2", "merlin"), ("3", "single"), ("–", "joint")]
    assert all("joint" not in (contest.row.method, contest.best.method) for contest in contests(rows))


def test_streams_that_are_set_otherwise_are_not_compared():
    rows = summarise(
        [
            *_methods(FIVE),
            *(
                one | {"settings": one["settings"] | {"stream": one["settings"]["stream"] | {"tasks": 3}}}
                for one in _methods({"cn-dpm": FIVE["merlin"]})
            ),
        ]
    )
    assert len(scores_tables(rows, 200)) == 2
    assert all(contest.row.method != "cn-dpm" for contest in contests(rows))


def test_what_is_told_the_task_is_not_compared_with_what_is_not():
    told = [one | {"scores": [one["scores"][0] | {"inference": "aware"}]} for one in _methods({"merlin": [99.0, 98.0]})]
    assert contests(summarise([*told, *_methods({"single": [40.0, 41.0]})])) == []


def test_the_interval_is_beside_the_mean_from_five_seeds_on_and_within_what_can_be():
    matrices = [[[value, None], [value, value]] for value in (99.0, 100.0, 100.0, 100.0, 100.0)]
    (row,) = summarise([result(seed, matrix) for seed, matrix in enumerate(matrices)])
    assert row.interval("average_incremental_accuracy") == pytest.approx((99.24, 100.0), abs=0.01)
    assert "99.24 to 100.00" in text([row])
    (row,) = summarise([result(seed, matrix) for seed, matrix in enumerate(matrices[:4])])
    assert row.interval("average_incremental_accuracy") is None
    assert "100.00 to" not in text([row])


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8))
def test_no_interval_leaves_what_a_measure_can_be(values):
    (row,) = summarise([result(seed, [[value, None], [value, value]]) for seed, value in enumerate(values)])
    for name in ("average_incremental_accuracy", "final_accuracy", "forgetting"):
        interval, (least, greatest) = row.interval(name), BOUNDS[name]
        assert (interval is None) == (len(values) < 5)
        assert interval is None or least <= interval[0] <= interval[1] <= greatest


def test_what_probabilities_were_worth_stands_beside_the_accuracies():
    other = MEASURED | {"nll": [0.1, 0.6], "other": {"notmnist": {"total": 60.0}}}
    rows = summarise([result(0, uncertainty=MEASURED), result(1, uncertainty=other), result(2)])
    assert rows[0].mean["nll"] == pytest.approx((0.4286 + 0.6) / 2)  # of the seeds that have it
    assert rows[0].values["auroc_epistemic_notmnist"] == {0: 71.1}
    assert rows[0].mean["auroc_total_notmnist"] == pytest.approx(66.02)
    assert "0.514" in text(rows)
    assert "4.51" in text(rows)
    assert "NLL in nats" in text(rows)


def test_results_of_before_it_was_measured_and_methods_without_probabilities_are_shown_without():
    without = result()
    without["scores"][0]["uncertainty"] = None
    for one in (result(), without):
        rows = summarise([one])
        assert rows[0].mean["nll"] is None
        assert "NLL" not in text(rows)
        assert calibration_table(one) is None
        assert other_kinds_table(one) is None


def test_one_run_in_detail():
    one = result(uncertainty=MEASURED)
    calibration = printed(calibration_table(one), other_kinds_table(one), width=80)
    for figure in ("0.429", "0.170", "4.51", "0.50", "2.00", "3.50", "4.50", "2.13", "72.04", "71.10"):
        assert figure in calibration
    resumed = result(uncertainty={"nll": [None, 0.3], "brier": [None, 0.1], "ece": [None, 2.0]})
    assert "0.300" in printed(calibration_table(resumed))
    assert other_kinds_table(resumed) is None


def one_run(method, modes):
    one = result(method=method, stream={"name": "permuted-mnist"}) | {"stream": "permuted-mnist"}
    one["settings"]["method"] = {"name": method}
    score = one["scores"][0] | {"view": "domain-incremental", "uncertainty": MEASURED}
    return one | {"scores": [score | {"inference": mode} for mode in modes]}


@pytest.mark.parametrize("width", [60, 80, 100, 120])
@pytest.mark.parametrize(
    ("method", "modes"), [("merlin", ("marginal", "aggregate", "aware")), ("generative-replay", (None,))]
)
def test_columns_are_left_out_rather_than_cut(method, modes, width):
    rows = summarise([one_run(method, modes)])
    tables = scores_tables(rows, width)
    assert printed(*tables, width=width) == printed(*tables, width=300)
    assert "92.50" in printed(*tables, width=width)


def test_a_wide_terminal_has_every_column():
    (table,) = scores_tables(summarise([one_run("er", (None,))]), 200)
    headings = [str(column.header) for column in table.columns]
    assert headings == ["method", "A", "stored", "seeds", "final", "forgetting", "NLL", "ECE", "exemplars", "updates"]
