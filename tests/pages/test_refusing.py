"""The figures on the page of answers one may refuse hold what is said of them."""

import json
import statistics

import pytest
from tests.docs.pages import ROOT


@pytest.mark.parametrize("asked", ["0.8", "0.9", "0.95"])
def test_sets_cover_what_was_asked(asked):
    """Within two points on average over a stream's runs, but for what the number of held-back examples leaves to chance."""
    records = [json.loads(file.read_text()) for file in (ROOT / "results" / "refusing").glob("*.json")]
    for stream in {record["stream"] for record in records}:
        last = [record["last"] for record in records if record["stream"] == stream]
        chance = (float(asked) * (1 - float(asked)) / sum(each["held"] for each in last)) ** 0.5
        covered = statistics.fmean(each[f"coverage {asked}"] for each in last)
        assert abs(covered - float(asked)) < 0.02 + chance, (stream, covered)
