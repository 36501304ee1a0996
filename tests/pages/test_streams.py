"""The streams' pages and the scoreboard say of every figure of the paper what became of it, and rank honestly."""

import json

import pytest
from tools.pages.charts import dot_plot, heat_map
from tools.pages.records import Record, asked, one_a_method, read_records
from tools.pages.results import question, rows_to_filter
from tools.pages.results import written as overview
from tools.pages.scoreboard import scoreboard
from tools.pages.streams import written

from merlin_cl.paper.published import Published
from merlin_cl.paper.verdict import verdict
from merlin_cl.report.page.command import command_of
from merlin_cl.report.summary import experiment_of, summarise


@pytest.fixture(scope="module")
def records():
    return read_records()


@pytest.fixture(scope="module")
def single(records):
    """A run of `single` on Split MNIST."""
    return next(one for one in records if (one.result["method"], one.result["stream"]) == ("single", "split-mnist"))


def test_one_row_a_method_is_told_from_the_first_by_its_seeds(records):
    first, *others = one_a_method(question(records, "split-mnist"))
    told = {place.row.method: place for place in others if place.rank is not None}
    known = {method for method, place in told.items() if len(set(place.row.seeds) & set(first.row.seeds)) >= 5}
    assert known
    assert {method for method in known if told[method].p is None} == set()
    assert told["single"].p < 0.01


def page_of(stream, records, reasons=()):
    return written(records, dict(reasons))[f"docs/results/{stream}.md"]


def changed(record, accuracy=None, **settings):
    """The same run with other settings of stream or method, and another accuracy."""
    result = json.loads(json.dumps(record.result))
    for name, value in settings.items():
        result["settings"]["stream" if name in result["settings"]["stream"] else "method"][name] = value
    for score in result["scores"] if accuracy is not None else ():
        score["average_incremental_accuracy"] = accuracy
    return Record(result, record.revision, record.date)


def beside_the_paper(page):
    """The rows of that table by their cells."""
    lines = page.partition("## Beside the paper")[2].partition("\n## ")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]


def is_called(shown, method):
    """Whether a row is of the method's default preset, perhaps with settings that it names; another preset is in brackets."""
    return shown == f"`{method}`" or (shown.startswith(f"`{method}` ") and not shown.startswith(f"`{method}` ("))


def test_every_figure_of_the_paper_has_a_mark(records):
    for known in ([], records[:1], records):
        texts = written(known, {})
        for one in asked():
            rows = beside_the_paper(texts[f"docs/results/{one.stream}.md"])
            marked = {row[4] for row in rows if is_called(row[0], one.method) and row[2] == (one.inference or "–")}
            assert marked, one
            assert marked <= {"reproduced", "exceeded", "not reached", "not run"}


def test_a_changed_result_changes_the_page(records, single):
    before = page_of("split-mnist", records)
    others = [one for one in records if one is not single]
    assert page_of("split-mnist", [changed(single, accuracy=1.0), *others]) != before


def test_date_revision_and_command_are_told(single):
    page = page_of("split-mnist", [Record(single.result, "0123456789abcdef", "2026-01-31")])
    command = command_of(summarise([single.result])[0])
    assert f"`{command}`; seeds {single.result['seed']}; on 2026-01-31; revision 0123456789" in page


def test_first_tasks_stand_beside_the_paper_s_first_tasks(single):
    page = page_of("split-mnist", [changed(single, tasks=2)])
    assert "| 73.9" in page
    assert "Table 9, first 2 tasks" in page


@pytest.mark.parametrize(("images", "stands"), [(480, True), (5000, False)])
def test_fewer_images_stand_beside_the_paper_s_figure_and_more_do_not(single, images, stands):
    page = page_of("split-mnist", [changed(single, images_per_task=images)])
    assert (f"; {images} images a task |" in page) is stands
    assert f"## Class-incremental, {images:,} images a task" in page
    assert any(row[0].startswith("`single`") and row[4] != "not run" for row in beside_the_paper(page)) is stands


def test_what_the_paper_has_with_the_same_network_is_told(records):
    rows = beside_the_paper(page_of("split-cifar10", records))
    gem = next(row for row in rows if row[0].startswith("`gem`"))
    assert "with ours it has 72.23 ± 1.56 (Appendix L, Table 16)" in gem[5]
    assert not any("larger" in row[5] for row in rows if row[0] in ("`merlin`", "`merlin-paper`"))


def test_reasons_are_told():
    texts = written([], {"split-cifar10": "no such data here", "split-mnist/merlin-paper/aware": "asleep"})
    assert texts["docs/results/split-cifar10.md"].count("| not run | no such data here |") == sum(
        one.stream == "split-cifar10" for one in asked()
    )
    assert texts["docs/results/split-mnist.md"].count("| not run | asleep |") == 1


def test_marks():
    paper = Published(80.0, 1.0, "Table 1")
    assert verdict(81.0, None, paper) == verdict(79.0, 0.2, paper) == "reproduced"
    assert verdict(81.1, 0.2, paper) == "exceeded"
    assert verdict(78.9, 0.2, paper) == "not reached"
    assert verdict(78.9, 1.2, paper) == "reproduced"  # our own uncertainty is larger


def test_rows_are_ranked_by_accuracy_and_a_ceiling_is_not(records, single):
    worse, better = changed(single, accuracy=10.0), changed(single, accuracy=90.0, weight_decay=0.5)
    joint = next(one for one in records if (one.result["method"], one.result["stream"]) == ("joint", "split-mnist"))
    if joint.result["source"] != single.result["source"]:
        joint = Record({**joint.result, "source": single.result["source"]}, None, None)
    page = page_of("split-mnist", [worse, joint, better])
    table = page.partition("## Class-incremental")[2].partition("\n## ")[0]
    assert [line.split("|")[1].strip() for line in table.splitlines() if "| `" in line] == ["1", "2", "ceiling"]


def test_the_scoreboard_fits_two_screens_and_has_every_stream_of_the_paper(records):
    for known in ([], records):
        text = scoreboard(known)
        lines = text.splitlines()
        assert len(lines) <= 60
        assert max(line.count("|") - 1 for line in lines) <= 6
        for one in asked():
            assert f"(docs/results/{one.stream}.md)" in text


def test_of_several_rows_the_scoreboard_has_the_one_with_fewest_settings_changed(single):
    plain, other = changed(single, accuracy=44.8), changed(single, accuracy=1.0, weight_decay=0.5)
    for order in ([plain, other], [other, plain]):
        assert "| `single` | 44.8: = +0.0 (1) |" in scoreboard(order)
    assert "| `single` | 44.8: −43.8 (1)† |" in scoreboard([changed(single, accuracy=1.0, images_per_task=480)])


def test_rivals_stand_beside_the_paper_with_its_network_and_with_merlin_s(records):
    runs = [one for one in records if (one.result["method"], one.result["stream"]) == ("single", "split-cifar10")]
    run = next(one for one in runs if one.result["settings"]["method"]["network"] == "auto")
    larger = changed(run, accuracy=73.2, network="resnet18")
    for order in ([run, larger], [larger, run]):
        above, _, below = scoreboard(order).partition("On MERLIN's own network")
        assert " 73.2: = +0.0 (1) |" in above
        assert (
            f"| 69.65: {run.result['scores'][1]['average_incremental_accuracy'] - 69.65:+.1f}".replace("-", "−")
            in below
        )
    above, _, below = scoreboard([larger]).partition("On MERLIN's own network")
    assert "| `single` | 69.65: not run |" in below
    above, _, below = scoreboard([run]).partition("On MERLIN's own network")
    assert " 73.2: not run |" in above


def test_rivals_beside_the_paper_have_its_one_update_a_batch_though_ours_share_ten(records):
    runs = [one for one in records if (one.result["method"], one.result["stream"]) == ("single", "split-cifar10")]
    run = next(one for one in runs if one.result["settings"]["method"]["network"] == "auto")
    one_update = changed(run, accuracy=69.65, updates_per_batch=1, augmentation="none")
    shared = changed(run, accuracy=1.0, updates_per_batch=10, augmentation="shifts-and-mirrors")
    for order in ([one_update, shared], [shared, one_update]):
        assert "| `single` | 69.65: = +0.0 (1) |" in scoreboard(order).partition("On MERLIN's own network")[2]


def test_the_table_to_filter_has_every_row(records):
    rows = rows_to_filter(records)
    assert len(rows) == sum(
        len(one.result["scores"]) for one in {experiment_of(one.result): one for one in records}.values()
    )
    assert all(row["rank"] is None for row in rows if row["method"] == "joint")


def test_overview_names_the_best_and_where_merlin_stands(records):
    text = overview(records)["docs/results/README.md"]
    ranked = [place.row.method for place in one_a_method(question(records, "split-mnist")) if place.rank]
    assert f"| `{ranked[0]}` | {ranked.index('merlin') + 1} of {len(ranked)} |" in text


def test_a_method_is_ranked_as_it_is_by_default_and_not_by_its_best_row(single):
    plain, better = changed(single, accuracy=10.0), changed(single, accuracy=90.0, weight_decay=0.5)
    (place,) = one_a_method(question([better, plain], "split-mnist"))
    assert place.row.mean["average_incremental_accuracy"] == 10.0


def test_the_dot_plot_has_rings_under_five_seeds_and_bars_from_five(single):
    def plot(seeds):
        runs = [Record({**changed(single, accuracy=40.0 + seed).result, "seed": seed}, None, None) for seed in seeds]
        return dot_plot(question(runs, "split-mnist"), "A title", "name")

    assert plot(range(4)).count('class="seed"') == 4
    assert 'class="bar"' not in plot(range(4))
    assert plot(range(5)).count('class="bar"') == 1


def test_a_map_shades_the_best_of_a_stream_and_leaves_out_what_was_not_run():
    drawn = heat_map({"a": {"s": 90.0, "t": 10.0}, "b": {"s": 50.0}}, [("s", "S"), ("t", "T")], "A title", "name")
    assert drawn.count('class="value on"') == 2
    assert drawn.count(">–<") == 1
