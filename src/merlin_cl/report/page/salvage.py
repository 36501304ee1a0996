"""One bad run hides no others: whatever a run holds that nobody thought of, the page is made of the rest."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from merlin_cl.report.page.sources import Run

Made = TypeVar("Made")


def salvaged(
    make: Callable[[list[Run], list[str]], Made], runs: Sequence[Run], problems: Sequence[str]
) -> tuple[Made, list[str]]:
    """What `make` gives for runs and problems, and the problems. Runs that it fails for are problems themselves.

    It is tried with all runs, if need be with each alone, and if those that do alone do not do together, with one more at a
    time.
    """
    try:
        return make(list(runs), list(problems)), list(problems)
    except Exception:  # of any kind: that is what this is for
        alone = [(run, _failure(make, [run])) for run in runs]
    failures = [*problems, *(failure for _, failure in alone if failure is not None)]
    sound = [run for run, failure in alone if failure is None]
    if _failure(make, sound) is not None:
        together: list[Run] = []
        for run in sound:
            failure = _failure(make, [*together, run])
            if failure is None:
                together.append(run)
            else:
                failures.append(failure)
        sound = together
    return make(sound, failures), failures


def _failure(make: Callable[[list[Run], list[str]], object], runs: list[Run]) -> str | None:
    """Why nothing can be made of some runs, laid at the door of the last; None where it can."""
    try:
        make(runs, [])
    except Exception as error:
        place = runs[-1].path if runs else "no run"
        return f"{place} cannot be shown ({type(error).__name__}: {str(error)[:200]}); please report this."
    return None
