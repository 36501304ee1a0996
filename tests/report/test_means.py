"""A table whose methods had unequal means says so by itself."""

import io
import json

import pytest
from rich.console import Console

from merlin_cl.report.means import unequal_means
from merlin_cl.report.summary import summarise
from merlin_cl.report.tables import scores_caption

from .made import make_run


@pytest.fixture
def rows_of(tmp_path):
    """Rows of made-up runs, each a method and some settings of it."""

    def rows(*runs):
        folders = [make_run(tmp_path / str(at), method, **values) for at, (method, values) in enumerate(runs)]
        return summarise(json.loads((folder / "result.json").read_text()) for folder in folders)

    return rows


def test_a_run_says_what_it_had(tmp_path):
    folder = make_run(tmp_path, "er", updates_per_batch=7, augmentation="shifts")
    means = json.loads((folder / "result.json").read_text())["means"]
    assert (means["updates_per_batch"], means["augmentation"], means["search_trials"]) == (7, "shifts", 0)


def test_equal_means_are_not_spoken_of(rows_of):
    assert unequal_means(rows_of(("gss", {}), ("single", {}))) == []


def test_unequal_means_are_told_with_who_had_which(rows_of):
    rows = rows_of(("gss", {}), ("single", {"updates_per_batch": 1, "hidden_units": (5, 6)}))
    (told,) = unequal_means(rows)
    assert "updates_per_batch 10 (gss), 1 (single)" in told
    assert "hidden_units 100-100 (gss), 5-6 (single)" in told
    assert "exemplars" not in told  # single keeps none
    out = io.StringIO()
    Console(file=out, width=300).print(scores_caption(rows))
    assert told in out.getvalue()


def test_of_many_methods_only_the_odd_ones_are_named(rows_of):
    same = {"updates_per_batch": 10, "exemplar_choice": "random", "replay": 10}
    rows = rows_of(*((method, same) for method in ("er", "er-ace", "der", "mir")), ("der++", same | {"replay": 4}))
    (told,) = unequal_means(rows)
    assert told.startswith("Unequal means on split-mnist: replay 10 for most, 4 (der++)")


def test_streams_are_not_mixed(rows_of):
    apart = {"stream": "permuted-mnist", "updates_per_batch": 1}
    assert unequal_means(rows_of(("single", {}), ("single", apart))) == []
