"""RESULTS.md follows from the result files, and says of every figure of the paper what became of it."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from merlin_cl.paper.published import Published
from merlin_cl.paper.verdict import verdict

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("results_page", ROOT / "tools" / "results_page.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
        page = tool.page(known, {})
        sections = page.split("\n## ")[1:]
        for one in tool.asked():
            section = next(text for text in sections if text.startswith(f"{one.stream}\n"))
            marked = [
                row[7]
                for row in rows(section)
                if is_called(row[0], one.method) and row[2] == (one.inference or "–") and row[5] != "–"
            ]
            assert marked, one
            assert set(marked) <= set(tool.MARKS)


def test_a_changed_result_changes_the_page(tool, records):
    before = tool.page(records, {})
    record = json.loads(json.dumps(records[0].result))
    record["scores"][0]["average_incremental_accuracy"] += 1.0
    assert tool.page([tool.Record(record, records[0].revision, records[0].date), *records[1:]], {}) != before


def test_date_revision_and_command_are_told(tool, records):
    single = next(
        record for record in records if (record.result["method"], record.result["stream"]) == ("single", "split-mnist")
    )
    page = tool.page([tool.Record(single.result, "0123456789abcdef", "2026-01-31")], {})
    assert (
        f"`merlin run {single.result['stream']} --method single --seed N`; on 2026-01-31; revision 0123456789;" in page
    )


def test_first_tasks_stand_beside_the_paper_s_first_tasks(tool, records):
    single = next(
        record for record in records if (record.result["method"], record.result["stream"]) == ("single", "split-mnist")
    )
    shortened = json.loads(json.dumps(single.result))
    shortened["settings"]["stream"]["tasks"] = 2
    page = tool.page([tool.Record(shortened, None, None)], {})
    assert "73.9" in page
    assert "Table 9, first 2 tasks" in page


@pytest.mark.parametrize(("images", "stands"), [(480, True), (5000, False)])
def test_fewer_images_stand_beside_the_paper_s_figure_and_more_do_not(tool, records, images, stands):
    single = next(
        record for record in records if (record.result["method"], record.result["stream"]) == ("single", "split-mnist")
    )
    changed = json.loads(json.dumps(single.result))
    changed["settings"]["stream"]["images_per_task"] = images
    page = tool.page([tool.Record(changed, None, None)], {})
    assert (f"; with {images} images a task |" in page) is stands
    row = next(line for line in page.splitlines() if f"images_per_task {images} | class-incremental" in line)
    assert ("| 44.8 ± 0.3 |" in row) is stands


def test_what_the_paper_has_with_the_same_network_is_told(tool, records):
    page = tool.page([one for one in records if one.result["stream"] == "split-cifar10"], {})
    gem, merlin = (
        [line for line in page.splitlines() if line.startswith(f"| `{method}` | task-masked")]
        for method in ("gem", "merlin")
    )
    assert "with ours it has 72.23 ± 1.56 (Appendix L, Table 16)" in gem[0]
    assert not any("larger" in line for line in merlin)


def test_reasons_are_told(tool):
    page = tool.page([], {"split-cifar10": "no such data here", "split-mnist/merlin/aware": "asleep"})
    assert page.count("| not run | no such data here |") == 11
    assert page.count("| not run | asleep |") == 1


def test_marks():
    paper = Published(80.0, 1.0, "Table 1")
    assert verdict(81.0, None, paper) == verdict(79.0, 0.2, paper) == "reproduced"
    assert verdict(81.1, 0.2, paper) == "exceeded"
    assert verdict(78.9, 0.2, paper) == "not reached"
    assert verdict(78.9, 1.2, paper) == "reproduced"  # our own uncertainty is larger
