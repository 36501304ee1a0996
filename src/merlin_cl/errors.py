"""Every error a user can meet: one sentence that names the value, says what was expected and what to do."""

import difflib
from collections.abc import Iterable

LONGEST = 1000
"""Characters of a sentence. One that names something longer, such as what a stranger wrote in a file, is cut in its middle."""


class MerlinError(Exception):
    """Something went wrong that the user can mend. The command line prints it without a traceback and exits with 1.

    >>> len(str(MerlinError(f"exemplars is {'x' * 100_000!r}; it must be a whole number.")))
    1000
    """

    exit_code = 1

    def __init__(self, sentence: str = "") -> None:
        end = LONGEST // 3
        whole = len(sentence) <= LONGEST
        super().__init__(sentence if whole else f"{sentence[: LONGEST - end - 5]} ... {sentence[-end:]}")


class UsageError(MerlinError, ValueError):
    """The user asked for something that does not exist or makes no sense. Exit code 2."""

    exit_code = 2


class InputError(MerlinError, ValueError):
    """Data that a learner or a loader cannot take: wrong shape, NaN, a label out of range."""


class MissingPathError(InputError):
    """A file or folder that was named and is not there. Exit code 2."""

    exit_code = 2


class DivergenceError(MerlinError, ArithmeticError):
    """A method whose numbers are no longer finite, or a computation that broke down: nothing it would answer means anything."""


class ShortageError(MerlinError, MemoryError):
    """More memory was asked for than there is."""


def unknown(kind: str, name: object, known: Iterable[str]) -> UsageError:
    """The error for a name that is not known, with the nearest one that is.

    >>> str(unknown("stream", "split-mnits", ["split-mnist", "permuted-mnist"]))
    "Unknown stream 'split-mnits'; did you mean 'split-mnist'? Known: permuted-mnist, split-mnist."
    """
    names = sorted(known)
    nearest = difflib.get_close_matches(str(name), names, n=1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else "."
    return UsageError(f"Unknown {kind} {name!r}{hint} Known: {', '.join(names)}.")
