"""What is advised follows from held-out parts alone, and the check leaves out what it is about."""

import json

from tests.docs.pages import ROOT
from tools.pages.choose import panel_rule

RULE = panel_rule()


def made_up():
    """Three tables, on which one method is best held out and another on test parts."""
    return {
        name: {"steady": {"held_out": 90.0, "test": 80.0}, "lucky": {"held_out": 80.0, "test": 95.0}}
        for name in ("one", "two", "three")
    }


def test_test_parts_have_no_say():
    groups = RULE.rule(made_up())
    assert RULE.recommended("one", groups) == "steady"
    assert next(iter(groups[0]["methods"])) == "steady"


def test_one_set_on_which_a_method_fails_does_not_outweigh_two_on_which_it_is_best():
    measured = made_up()
    measured["three"]["steady"]["held_out"] = 10.0
    assert list(RULE.rule(measured)[0]["methods"].items()) == [("steady", 63.33), ("lucky", 80.0)]


def test_methods_that_are_as_good_share_their_places_and_the_more_accurate_goes_first():
    measured = made_up()
    del measured["three"]
    measured["two"] = {"steady": {"held_out": 50.0, "test": 0.0}, "lucky": {"held_out": 70.0, "test": 0.0}}
    assert RULE.recommended("one", RULE.rule(measured)) == "lucky"


def test_a_set_has_no_say_in_what_is_recommended_for_it():
    measured = made_up()
    measured["one"]["lucky"]["held_out"] = 1000.0
    assert RULE.left_out(measured)["one"] == ("steady", 80.0)
    assert RULE.left_out(measured)["two"][0] == "lucky"


def test_the_rule_that_ships_is_what_the_panel_says():
    shipped = json.loads((ROOT / "src" / "merlin_cl" / "estimator" / "preferences.json").read_text("utf-8"))
    assert shipped == RULE.rule(RULE.scores())


def test_the_choice_is_within_two_points_of_the_best_method_of_the_panel():
    measured = RULE.scores()
    chosen = [accuracy for _, accuracy in RULE.left_out(measured).values()]
    assert sum(chosen) / len(chosen) > RULE.best_single(measured)[1] - 2
