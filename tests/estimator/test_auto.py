"""`method="auto"` chooses by what is known at the first call, and says why."""

import re

import numpy as np
import pytest
from tests.estimator.small import clouds

from merlin_cl import ContinualClassifier
from merlin_cl.errors import UsageError
from merlin_cl.estimator.auto import advised, group_for, kilobytes, preferences
from merlin_cl.protocol import StreamInfo

pytestmark = pytest.mark.usefixtures("short_fits")

TABLE = StreamInfo("table", (6,), classes=5, tasks=3)
DRIFT = StreamInfo("drift", (6,), classes=5, tasks=3, domain_incremental=True)


def test_it_takes_the_best_of_the_kind_and_says_why():
    model = ContinualClassifier("auto").partial_fit(*clouds(0, 1))
    best = next(iter(group_for(model.learner_.stream)["methods"]))
    assert model.learner_.settings.method == best
    assert model.choice_.startswith(f"{best}: ")
    assert "data sets of vectors that bring new classes" in model.choice_


def test_groups_have_no_ceiling_and_know_scenarios_apart():
    for group in preferences():
        assert "joint" not in group["methods"], "it keeps every example"
    assert group_for(TABLE)["scenario"] == "class-incremental"
    assert group_for(DRIFT)["scenario"] == "domain-incremental"
    assert not set(group_for(TABLE)["sets"]) & set(group_for(DRIFT)["sets"])


def test_a_budget_is_kept():
    free = advised(TABLE).method
    least = kilobytes(free, TABLE, as_bytes=False)
    assert advised(TABLE, budget=least).method == free
    frugal = advised(TABLE, budget=least - 1)
    assert frugal.method != free
    assert f"{free} would keep {least:,} kB" in frugal.reason
    with pytest.raises(UsageError, match=r"the least that a method keeps here are the (\d+) kB of (\w+)") as refused:
        advised(TABLE, budget=0)
    enough, smallest = re.search(r"the ([\d,]+) kB of ([\w-]+);", str(refused.value)).groups()
    assert advised(TABLE, budget=int(enough)).method == smallest


def test_settings_that_are_asked_for_decide_among_methods_that_have_them():
    method = advised(TABLE, settings=["fine_tune_epochs"]).method
    assert method in ("gdumb", "gdumb-ensemble", "merlin", "lookup")
    with pytest.raises(UsageError, match="No method has all of the settings"):
        advised(TABLE, settings=["no_such_setting"])


def test_a_choice_survives_saving_and_growing(tmp_path):
    model = ContinualClassifier("auto", budget=10_000).partial_fit(*clouds(0, 1), task="a")
    copy = ContinualClassifier.load(model.save(tmp_path / "model"))
    for one in (model, copy):
        one.partial_fit(*clouds(2, 3), task="b")
    assert copy.method == "auto"
    assert copy.choice_ == model.choice_
    x, _ = clouds(0, 1, 2, 3)
    np.testing.assert_array_equal(copy.predict_proba(x), model.predict_proba(x))


def test_a_budget_is_a_number_of_kilobytes():
    with pytest.raises(UsageError, match="budget is 'much'"):
        ContinualClassifier("auto", budget="much").partial_fit(*clouds(0, 1))


def test_a_method_that_was_named_is_taken():
    assert ContinualClassifier("slda").partial_fit(*clouds(0, 1)).choice_ == "slda, as you said."
