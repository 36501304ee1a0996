"""The figures on the page of answers one may refuse hold what is said of them."""

import json
import statistics

import pytest
from tests.docs.pages import ROOT


@pytest.mark.parametrize("asked", ["0.8", "0.9", "0.95"])
def test_sets_cover_what_was_asked(asked):
    """Within two points on average over the runs of a stream and method."""
    records = [json.loads(file.read_text()) for file in (ROOT / "results" / "refusing").glob("*.json")]
    for stream, method in {(record["stream"], record["method"]) for record in records}:
        runs = [record["last"] for record in records if (record["stream"], record["method"]) == (stream, method)]
        covered = statistics.fmean(each[f"coverage {asked}"] for each in runs)
        assert abs(covered - float(asked)) < 0.02, (stream, method, covered)
