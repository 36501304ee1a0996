"""What a reader could take for more than it is: ranks, ceilings, runs that are not finished, intervals, p-values, ±."""

import json
import re

import pytest
from tests.docs.pages import NAMES, ROOT

from merlin_cl.metrics import holm
from merlin_cl.report.page.build import content
from merlin_cl.report.page.headline import headline
from merlin_cl.report.page.render import figures, page
from merlin_cl.report.page.series import correct_p_values
from merlin_cl.report.page.sources import find, read
from merlin_cl.report.ranking import ranking, sentence
from merlin_cl.report.summary import summarise

from .made import make_run


def made(*roots, unfinished=False):
    return content(read(find(roots)).runs, unfinished=unfinished)


@pytest.fixture
def many(tmp_path):
    """Five seeds of ours, of two better methods, of the control and of the ceiling."""
    levels = {"merlin": 90.0, "cn-dpm": 96.0, "slda": 95.0, "gdumb-ensemble": 88.0, "joint": 99.0}
    for method, level in levels.items():
        for seed in range(5):
            make_run(tmp_path, method, seed, level=level)
    return tmp_path


def rows_of(stream, view="class-incremental"):
    (table,) = (table for table in headline(stream)["tables"] if table["view"] == view)
    return table["rows"]


def test_the_order_and_the_rank_are_those_of_accuracy_and_nothing_is_pinned(many):
    (stream,) = made(many)["streams"]
    ranked = [(row["rank"], row["label"]) for row in rows_of(stream) if row["rank"]]
    assert ranked == [(1, "cn-dpm"), (2, "slda"), (3, "merlin"), (4, "gdumb-ensemble")]


def test_a_ceiling_has_no_rank_is_not_the_best_and_comes_last(many):
    (stream,) = made(many)["streams"]
    last = rows_of(stream)[-1]
    assert (last["label"], last["apart"], last["rank"]) == ("joint", "ceiling", None)
    assert last["above_control"] is None
    text = page(made(many))
    assert len(re.findall(r"\(best\)", text)) == 2  # one a view


def test_answers_that_are_told_the_task_and_further_answers_of_a_learner_have_no_rank(many):
    (stream,) = made(many)["streams"]
    ours = {row["inference"]: row["apart"] for row in rows_of(stream, "task-masked") if row["label"] == "merlin"}
    assert ours == {"marginal": "", "aggregate": "another answer", "aware": "told the task"}


def test_the_heading_ranks(many):
    text = page(made(many))
    heading = re.search(r'<h1 id="heading">(.*?)</h1>', text).group(1)
    pattern = r"Split MNIST: cn-dpm [\d.]+, slda [\d.]+, merlin [\d.]+ with [\d.]+ kB, 3rd of 4; ceiling joint [\d.]+"
    assert re.fullmatch(pattern, heading)


def test_ours_is_named_with_its_rank_wherever_it_is(many):
    for seed in range(5):
        make_run(many, "scr", seed, level=94.0)
    places = ranking(summarise(run.result for run in read(find([many])).runs))
    (said,) = (sentence(of_view) for of_view in places if of_view[0].row.view == "class-incremental")
    assert re.fullmatch(r"cn-dpm \S+, slda \S+, scr \S+ … merlin \S+ with \S+ kB, 4th of 5; ceiling joint \S+", said)
    assert sentence([]) == ""


def test_a_first_that_chance_may_have_made_is_not_called_the_best_without_a_word(tmp_path):
    for seed in range(5):
        make_run(tmp_path, "er", seed, level=90.0)
        make_run(tmp_path, "der", seed, level=89.5 + 0.5 * (seed % 3))
        make_run(tmp_path, "single", seed, level=50.0)
    (stream,) = made(tmp_path)["streams"]
    tied = {row["label"]: row["tied"] for row in rows_of(stream)}
    assert tied == {"er": False, "der": True, "single": False}
    assert "; der cannot be told from the first" in stream["sentences"]["class-incremental"]
    assert "not told from the first" in page(made(tmp_path))


def test_too_few_seeds_to_rank_are_said_in_the_ranking_itself(tmp_path):
    for seed in range(2):
        make_run(tmp_path, "er", seed, level=90.0)
        make_run(tmp_path, "single", seed, level=50.0)
    (stream,) = made(tmp_path)["streams"]
    assert stream["sentences"]["class-incremental"].endswith("; too few seeds to tell them apart")
    assert "2 seeds each" in page(made(tmp_path))


def test_mean_ranks_over_few_streams_are_not_a_ranking_without_a_word(tmp_path):
    for stream in ("split-mnist", "permuted-mnist"):
        for place, method in enumerate(("er", "der", "single")):
            make_run(tmp_path, method, stream=stream, level=90.0 - place)
    assert "so few streams tell none of them apart" in page(made(tmp_path))


def test_cpu_times_of_several_machines_are_not_set_side_by_side_without_a_word(tmp_path):
    make_run(tmp_path, "er")
    assert "All runs were on the same kind of processor: made up." in page(made(tmp_path))
    other = make_run(tmp_path, "single")
    record = json.loads((other / "env.json").read_text("utf-8"))
    record["machine"]["processor"] = "another"
    (other / "env.json").write_text(json.dumps(record), encoding="utf-8")
    assert "on 2 kinds of processor, so small differences say nothing: another; made up." in page(made(tmp_path))


def test_runs_that_are_not_finished_stand_apart_and_have_no_average(many):
    for seed in range(5):
        make_run(many, "er", seed, level=100.0, done=1)
    (stream,) = made(many, unfinished=True)["streams"]
    table = headline(stream)["tables"][0]
    assert "er" not in [row["label"] for row in table["rows"]]
    assert [(row["label"], row["rank"], row["tasks"], row["tasks_in_all"]) for row in table["unfinished"]] == [
        ("er", None, 1, 3)
    ]
    assert stream["tasks"] == 3
    text = page(made(many, unfinished=True), live="1")
    assert "1 of 3" in text
    assert "Not finished" in text


def test_few_seeds_have_dots_and_no_interval(tmp_path):
    for seed in range(4):
        make_run(tmp_path, "er", seed)
    (one, *_) = figures(made(tmp_path))["streams"][0]["experiments"][0]["series"]
    for estimate in (one["average"], one["final"], *one["curve"], *one["forgotten"]):
        assert estimate["low"] is None
        assert len(estimate["each"]) == 4
    assert "too few seeds" in page(made(tmp_path))


def test_intervals_stay_within_what_accuracies_can_be(tmp_path):
    for seed in range(5):
        make_run(tmp_path, "er", seed, level=100.0 - 0.5 * seed)
    (one, *_) = figures(made(tmp_path))["streams"][0]["experiments"][0]["series"]
    for estimate in (one["average"], one["final"], *one["curve"]):
        assert 0 <= estimate["low"] <= estimate["mean"] <= estimate["high"] <= 100
        assert estimate["each"] is None


def test_p_values_are_corrected_over_the_whole_table(many):
    (stream,) = made(many)["streams"]
    compared = [
        one["above_control"] for each in stream["experiments"] for one in each["series"] if one["above_control"]
    ]
    series = [{"above_control": {"p": p}} for p in (0.01, 0.04, 0.03)] + [{"above_control": None}]
    correct_p_values(series)
    assert [one["above_control"]["p"] for one in series[:3]] == holm([0.01, 0.04, 0.03])
    assert len(compared) == 9  # ours in five ways, two rivals in two views each
    assert "Holm" in page(made(many))


def test_two_seeds_have_no_p_value(tmp_path):
    for seed in range(2):
        make_run(tmp_path, "merlin", seed)
        make_run(tmp_path, "gdumb-ensemble", seed)
    (stream,) = made(tmp_path)["streams"]
    compared = [
        one["above_control"] for each in stream["experiments"] for one in each["series"] if one["above_control"]
    ]
    assert compared
    assert all(above["p"] is None and above["low"] is None for above in compared)


@pytest.mark.parametrize("name", NAMES)
def test_plus_minus_is_the_standard_deviation_on_every_page(name):
    text = (ROOT / name).read_text("utf-8")
    if not re.search(r"\d ± \d", text):
        return
    assert "standard deviation" in text, f"{name} has figures with ± and does not say what it is"
    assert not re.search(r"± (?:is|being) half", text)
