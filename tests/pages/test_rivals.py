"""The page of rivals has every search and where every method's settings come from; Avalanche's stand beside ours."""

import json

from tests.docs.pages import ROOT
from tools.pages.benchmarks import page
from tools.pages.rivals import ORIGINS, pages

from merlin_cl.learners.registry import BUILT_IN
from merlin_cl.learners.tuned import search_record
from merlin_cl.streams.registry import stream_names


def test_every_search_that_ships_is_on_the_page():
    text = pages()["docs/rivals.md"]
    for file in (ROOT / "src" / "merlin_cl" / "learners" / "tuned").glob("*.json"):
        record = json.loads(file.read_text("utf-8"))
        assert record == search_record(record["method"], record["stream"]["name"])
        assert f"| {record['stream']['name']} | `{record['method']}` |" in text
        assert f"| {record['value']:.2f} |" in text


def test_the_origin_of_every_methods_settings_is_told():
    text = pages()["docs/rivals.md"]
    origins = json.loads(ORIGINS.read_text("utf-8"))
    assert list(origins) == list(BUILT_IN)
    for method, origin in origins.items():
        streams = [stream for stream in stream_names() if search_record(method, stream)]
        assert f"| `{method}` | {', '.join(streams) or '–'} | {origin} |" in text


def test_the_comparison_gives_means_and_their_ratio():
    runs = [
        {
            "seed": seed,
            "ours": {"final_accuracy": 70.0 + seed, "milliseconds_per_example": 0.2},
            "theirs": {"final_accuracy": 68.0 + seed, "milliseconds_per_example": 0.5},
        }
        for seed in range(3)
    ]
    record = {"method": "er", "runs": runs, "versions": {"torch": "2"}, "revision": "abcdefghij", "source": "MNIST"}
    text = page([record])
    assert "| `er` | 3 | 71.0 ± 1.0 | 69.0 ± 1.0 | +2.0 | 0.20 | 0.50 | 0.40 | – | – |" in text
    assert "torch 2; revision abcdefghi. Data: MNIST." in text
