"""Plain values become settings of the right type, or are refused in a sentence that names them."""

from dataclasses import dataclass
from typing import Literal

import pytest

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.learners.setting_values import from_own_record, from_record


@dataclass(frozen=True)
class Kitchen:
    """Settings of every type that there is."""

    pots: int = 1
    heat: float = 0.5
    lit: bool = False
    shelves: tuple[int, ...] = ()
    flame: Literal["low", "high"] = "low"
    memory: float | None = None


def test_values_as_json_has_them_become_values_of_the_fields_types():
    made = from_record(Kitchen, {"heat": 2, "shelves": [1, 2], "memory": None, "flame": "high"}, "kitchen")
    assert made == Kitchen(heat=2.0, shelves=(1, 2), flame="high")
    assert isinstance(made.heat, float)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"pots": 1.5}, "pots is 1.5; it must be a whole number"),
        ({"pots": True}, "pots is True; it must be a whole number"),
        ({"heat": "hot"}, "heat is 'hot'; it must be a number"),
        ({"lit": 1}, "lit is 1; it must be true or false"),
        ({"shelves": 3}, "shelves is 3; it must be a list"),
        ({"flame": "lo"}, "flame.*'lo'.*low"),
        ({"pot": 1}, "setting of kitchen.*'pot'.*pots"),
        ({"memory": "much"}, "memory is 'much'; it must be a number"),
    ],
)
def test_others_are_refused_by_name(record, said):
    with pytest.raises(UsageError, match=said):
        from_record(Kitchen, record, "kitchen")


def test_what_we_wrote_ourselves_comes_back_value_for_value():
    written = {"heat": 2, "shelves": [1, [2, 3]]}
    made = from_own_record(Kitchen, written, "config.json")
    assert made.heat == 2
    assert isinstance(made.heat, int)  # the record of it is to be the same text again
    assert made.shelves == (1, (2, 3))
    with pytest.raises(MerlinError, match=r"config\.json has the setting 'oven', which Kitchen does not know"):
        from_own_record(Kitchen, {"oven": 1}, "config.json")
