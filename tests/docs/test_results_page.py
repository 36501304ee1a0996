"""The scoreboard and the streams' pages follow from the result files, and say of every figure of the paper what became of it."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from merlin_cl.paper.published import Published
from merlin_cl.paper.verdict import verdict
from merlin_cl.report.page.command import command_of
from merlin_cl.report.summary import summarise

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(ROOT / "tools"))
    yield importlib.import_module("results_page")
    sys.path.remove(str(ROOT / "tools"))


@pytest.fixture(scope="module")
def pages(tool):
    """The pages of all streams as one text."""
    return lambda *given: "\n".join(tool.stream_pages(*given).values())


@pytest.fixture(scope="module")
def records(tool):
    return tool.read_records(ROOT / "results")


def test_the_page_follows_from_the_files():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "results_page.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def rows(page):
    """Table rows by their cells."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| `")
    ]


def is_called(shown, method):
    """Whether a row is of the method's default preset, perhaps with settings that it names; another preset is in brackets."""
    return shown == f"`{method}`" or (shown.startswith(f"`{method}` ") and not shown.startswith(f"`{method}` ("))


def test_every_figure_of_the_paper_has_a_mark(tool, records):
    for known in ([], records[:1], records):
        sections = tool.stream_pages(known, {})
        for one in tool.asked():
            section = sections[one.stream]
            marked = [
                row[7]
                for row in rows(section)
                if is_called(row[0], one.method) and row[2] == (one.inference or "–") and row[5] != "–"
            ]
            assert marked, one
            assert set(marked) <= set(tool.SIGNS)


def test_a_changed_result_changes_the_page(tool, pages, records):
    before = pages(records, {})
    record = json.loads(json.dumps(records[0].result))
    record["scores"][0]["average_incremental_accuracy"] += 1.0
    assert pages([tool.Record(record, records[0].revision, records[0].date), *records[1:]], {}) != before


def test_date_revision_and_command_are_told(tool, pages, records):
    single = next(
        record for record in records if (record.result["method"], record.result["stream"]) == ("single", "split-mnist")
    )
    page = pages([tool.Record(single.result, "0123456789abcdef", "2026-01-31")], {})
    command = command_of(summarise([single.result])[0])
    assert f"`{command}`; on 2026-01-31; revision 0123456789;" in page


def test_first_tasks_stand_beside_the_paper_s_first_tasks(tool, pages, records):
    single = next(
        record for record in records if (record.result["method"], record.result["stream"]) == ("single", "split-mnist")
    )
    shortened = json.loads(json.dumps(single.result))
    shortened["settings"]["stream"]["tasks"] = 2
    page = pages([tool.Record(shortened, None, None)], {})
    assert "73.9" in page
    assert "Table 9, first 2 tasks" in page


@pytest.mark.parametrize(("images", "stands"), [(480, True), (5000, False)])
def test_fewer_images_stand_beside_the_paper_s_figure_and_more_do_not(tool, pages, records, images, stands):
    single = next(
        record for record in records if (record.result["method"], record.result["stream"]) == ("single", "split-mnist")
    )
    changed = json.loads(json.dumps(single.result))
    changed["settings"]["stream"]["images_per_task"] = images
    page = pages([tool.Record(changed, None, None)], {})
    assert (f"; with {images} images a task |" in page) is stands
    row = next(
        line for line in page.splitlines() if f"images_per_task {images}" in line and "| class-incremental" in line
    )
    assert ("| 44.8 ± 0.3 |" in row) is stands


def test_what_the_paper_has_with_the_same_network_is_told(tool, pages, records):
    page = pages([one for one in records if one.result["stream"] == "split-cifar10"], {})
    gem, merlin = (
        [line for line in page.splitlines() if line.startswith(f"| `{method}`") and "| task-masked" in line]
        for method in ("gem", "merlin")
    )
    assert "with ours it has 72.23 ± 1.56 (Appendix L, Table 16)" in gem[0]
    assert not any("larger" in line for line in merlin)


def test_reasons_are_told(pages):
    page = pages([], {"split-cifar10": "no such data here", "split-mnist/merlin/aware": "asleep"})
    assert page.count("| not run | no such data here |") == 10
    assert page.count("| not run | asleep |") == 1


def test_marks():
    paper = Published(80.0, 1.0, "Table 1")
    assert verdict(81.0, None, paper) == verdict(79.0, 0.2, paper) == "reproduced"
    assert verdict(81.1, 0.2, paper) == "exceeded"
    assert verdict(78.9, 0.2, paper) == "not reached"
    assert verdict(78.9, 1.2, paper) == "reproduced"  # our own uncertainty is larger


def test_the_scoreboard_fits_two_screens_and_has_every_stream_of_the_paper(tool, records):
    for known in ([], records):
        text = tool.scoreboard(known)
        lines = text.splitlines()
        assert len(lines) <= 60
        assert max(line.count("|") - 1 for line in lines) <= 6
        for one in tool.asked():
            assert f"[{one.stream}](docs/results/{one.stream}.md)" in text


def test_of_several_rows_the_scoreboard_has_the_one_with_fewest_settings_changed(tool, records):
    result = next(
        one.result for one in records if (one.result["method"], one.result["stream"]) == ("single", "split-mnist")
    )
    other = json.loads(json.dumps(result))
    other["settings"]["method"]["weight_decay"] = 0.5
    other["scores"][0]["average_incremental_accuracy"] = 1.0
    for order in ([result, other], [other, result]):
        text = tool.scoreboard([tool.Record(one, None, None) for one in order])
        assert f"| `single` | {result['scores'][0]['average_incremental_accuracy']:.1f} (1) / 44.8 " in text
    other["settings"]["stream"]["images_per_task"] = 480
    assert "1.0 (1)† / 44.8 − |" in tool.scoreboard([tool.Record(other, None, None)])
