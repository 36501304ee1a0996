"""The table of the page on features follows from the results on file."""

import importlib.util

from tests.docs.pages import ROOT


def experiment():
    spec = importlib.util.spec_from_file_location("features_experiment", ROOT / "experiments" / "features.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_that_of_the_results():
    page = (ROOT / "docs" / "features.md").read_text("utf-8")
    assert experiment().with_table(page) == page
    assert "| slda |" in page
