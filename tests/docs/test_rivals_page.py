"""The page of rivals follows from the result files, the searches and the comparison with Avalanche."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from merlin_cl.learners.registry import BUILT_IN
from merlin_cl.learners.tuned import search_record

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "rivals_page.py"


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(TOOL))


def result(method="ewc", seed=0, accuracy=44.0, stream="split-mnist", source="MNIST"):
    """The record of a run, as short as it can be."""
    score = {
        "view": "class-incremental", "inference": None, "average_incremental_accuracy": accuracy, "final_accuracy": 20.0,
        "forgetting": 90.0, "backward_transfer": -90.0,
    }  # fmt: skip
    settings = {"stream": {"name": stream}, "method": {"name": method}, "inference": "all"}
    return {
        "stream": stream, "method": method, "preset": "default", "seed": seed, "source": source, "batch_size": 10,
        "exemplars": 200, "updates_per_batch": 1, "settings": settings, "scores": [score],
        "cost": {"cpu_seconds": {"base": 2.0, "evaluate": 1.0}, "stored_bytes": {"classifier": 1000}},
    }  # fmt: skip


def test_the_page_follows_from_the_files():
    done = subprocess.run([sys.executable, TOOL, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_row_has_mean_deviation_cost_and_bytes_of_its_seeds(tool):
    page = tool["page"]([result(seed=0, accuracy=44.0), result(seed=1, accuracy=46.0)], [], {})
    assert "| – | 1 | 2 | 45.00 ± 1.41 | 20.00 ± 0.00 | 90.00 ± 0.00 | 3.0 | 1.0 kB |" in page
    assert "All 2 runs of this stream together took 0.1 CPU-minutes" in page


def test_a_difference_from_the_paper_is_explained_or_called_unexplained(tool):
    far, near = result(accuracy=50.0), result(accuracy=46.0)
    assert "+4.9: **not explained**" in tool["page"]([far], [], {})
    assert "+4.9: tuned for the stream" in tool["page"]([far], [], {"split-mnist ewc": "tuned for the stream"})
    assert "not explained" not in tool["page"]([near], [], {})


def test_a_form_of_a_method_may_have_a_reason_of_its_own(tool):
    plain, form = result("gss", accuracy=60.0), result("gss", accuracy=50.0)
    form["settings"] = {**form["settings"], "method": {"name": "gss", "selection": "integer"}}
    reasons = {"split-mnist gss": "for want of time", "split-mnist gss selection integer": "by the program"}
    page = tool["page"]([plain, form], [], reasons)
    assert "-28.3: for want of time" in page
    assert "-38.3: by the program" in page


def test_of_an_experiment_made_twice_the_one_with_most_seeds_counts(tool):
    everything, slices = (
        [result(), result(seed=1), result("er")],
        [result(source="slice"), result("gem", source="slice")],
    )
    page = tool["page"]([*slices, *everything], [], {})
    assert page.partition("## Where settings")[0].count("\n| `ewc`") == 1
    assert "Data: MNIST." in page
    assert "Data¹: slice." in page
    assert "¹ | – | 1 | 1 | 44.00" in page  # gem, which was made on the slice alone


def test_the_comparison_gives_means_and_their_ratio(tool):
    runs = [
        {
            "seed": seed,
            "ours": {"final_accuracy": 70.0 + seed, "milliseconds_per_example": 0.2},
            "theirs": {"final_accuracy": 68.0 + seed, "milliseconds_per_example": 0.5},
        }
        for seed in range(3)
    ]
    record = {"method": "er", "runs": runs, "versions": {"torch": "2"}, "revision": "abcdefghij", "source": "MNIST"}
    page = tool["page"]([], [record], {})
    assert "| `er` | 3 | 71.0 ± 1.0 | 69.0 ± 1.0 | +2.0 | 0.20 | 0.50 | 0.40 | – | – |" in page
    assert "torch 2; revision abcdefghi. Data: MNIST." in page


def test_every_search_that_ships_is_on_the_page():
    page = (ROOT / "docs" / "rivals.md").read_text("utf-8")
    for file in (ROOT / "src" / "merlin_cl" / "learners" / "tuned").glob("*.json"):
        record = json.loads(file.read_text("utf-8"))
        assert record == search_record(record["method"], record["stream"]["name"])
        assert f"| {record['stream']['name']} | `{record['method']}` |" in page
        assert f"| {record['value']:.2f} |" in page


def test_the_origin_of_every_methods_settings_is_told():
    page = (ROOT / "docs" / "rivals.md").read_text("utf-8")
    origins = json.loads((ROOT / "tools" / "rivals_page" / "defaults.json").read_text("utf-8"))
    assert list(origins) == list(BUILT_IN)
    for method, origin in origins.items():
        streams = [stream for stream in ("split-mnist", "permuted-mnist") if search_record(method, stream)]
        assert f"| `{method}` | {', '.join(streams) or '–'} | {origin} |" in page


def test_no_difference_from_the_paper_is_left_unexplained():
    assert "not explained" not in (ROOT / "docs" / "rivals.md").read_text("utf-8")
