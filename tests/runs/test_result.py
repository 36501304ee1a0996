"""A result that cannot be shown is told of in words."""

import copy

import pytest

from merlin_cl.runs.result import FaultError, check


@pytest.mark.parametrize(
    ("spoiled", "complaint"),
    [
        ({"nll": [0.1, 0.2]}, "scores[0].uncertainty.nll is not 3 numbers"),
        ({"risks": [1.0]}, "scores[0].uncertainty.risks is not 10 percentages"),
        ({"risk_area": None}, "scores[0].uncertainty.risk_area is not a number"),
        (
            {"other": {"letters": 90.0}},
            "scores[0].uncertainty.other is not numbers by kind of input and of uncertainty",
        ),
    ],
)
def test_what_probabilities_were_worth_is_checked(done, spoiled, complaint):
    result = done.result()
    check(result)
    check(result | {"scores": [score | {"uncertainty": None} for score in result["scores"]]})
    bad = copy.deepcopy(result)
    bad["scores"][0]["uncertainty"] |= spoiled
    with pytest.raises(FaultError) as told:
        check(bad)
    assert str(told.value) == complaint
