"""What every learner and every stream must hold to, as checks that anyone can run on their own: all at once,

    from merlin_cl import check_learner
    check_learner(MySettings(...))   # small settings: the battery's stream has 3 tasks of 40 examples with 6 numbers each

or as a test each:

    import pytest
    from merlin_cl.checks import CHECKS

    @pytest.mark.parametrize("check", CHECKS)
    def test_my_learner(check):
        check(MySettings(...))

A check raises AssertionError with a sentence that says what was done and what was broken. `LIFE_CYCLE` are the rules of every
day and want a learner that learns. `HARD_CASES` want finite answers and no more, also after 200 tasks: settings that learn little
will do there if the method is slow. `STREAM_CHECKS` are those of a stream.
"""

from collections.abc import Callable, Iterable
from typing import Any

from merlin_cl.checks.hard_cases import HARD_CASES
from merlin_cl.checks.life_cycle import LIFE_CYCLE
from merlin_cl.checks.stream_checks import STREAM_CHECKS
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.streams.settings import StreamSettings

__all__ = ["CHECKS", "HARD_CASES", "LIFE_CYCLE", "STREAM_CHECKS", "check_learner", "check_stream"]

CHECKS: list[Callable[[MethodSettings], None]] = [*LIFE_CYCLE, *HARD_CASES]


def check_learner(settings: MethodSettings, checks: Iterable[Callable[[MethodSettings], None]] = CHECKS) -> None:
    """Run the battery over the learner that some settings build; AssertionError names every check that failed, and why.

    >>> from merlin_cl.learners import method_settings
    >>> check_learner(method_settings("slda")(width=10, shrinkage=1e-2), LIFE_CYCLE)
    """
    _run(checks, settings, settings.method)


def check_stream(settings: StreamSettings, checks: Iterable[Callable[[StreamSettings], None]] = STREAM_CHECKS) -> None:
    """Run the checks of streams over the one that some settings build; AssertionError names every check that failed, and why.

    >>> from merlin_cl.streams import stream_settings
    >>> check_stream(stream_settings("split-mnist")(tasks=2, images_per_task=10))
    """
    _run(checks, settings, settings.stream)


def _run(checks: Iterable[Callable[[Any], None]], settings: Any, name: str) -> None:
    complaints = []
    for check in checks:
        try:
            check(settings)
        except AssertionError as complaint:
            complaints.append(f"{check.__name__}: {complaint}")
    if complaints:
        raise AssertionError("\n".join([f"{name} fails {len(complaints)} of the battery's checks.", *complaints]))
