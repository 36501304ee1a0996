"""What was asked of the estimator's speed is met by what was measured."""

import json

from tests.docs.pages import ROOT


def test_what_was_asked_for_is_met():
    record = json.loads((ROOT / "results" / "estimator" / "speed.json").read_text("utf-8"))
    figures = record["figures"]
    assert record["limits"]
    assert {name: figures[name] for name, limit in record["limits"].items() if figures[name] > limit} == {}
