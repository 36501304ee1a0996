"""Files made to do harm, and what becomes of each: refused in one sentence, quickly, in little memory, with nothing touched.

`python -m streams.malicious` (with `tests` on the path) tries all of them in this process and prints one JSON line a file.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from merlin_cl.errors import MerlinError
from merlin_cl.streams.catalogue.archives import ArchiveLimits
from merlin_cl.streams.catalogue.unpack import unpack
from merlin_cl.streams.datasets.pickled import read_pickle
from streams.malicious.archives import ARCHIVES, FILES, SIZE
from streams.malicious.pickles import PICKLES

MEMORY = 200_000_000
"""Bytes that trying a file may take."""
SECONDS = 20.0
"""Of the processor, whatever else it has to do; each takes one at most."""


@dataclass(frozen=True)
class Attempt:
    """What became of one file."""

    kind: str
    name: str
    failure: str
    """Empty where all went well."""
    said: str
    seconds: float
    memory: int


def attempts(folder: Path) -> Iterator[Attempt]:
    """Try all pickles and all archives, with `folder` to work in."""
    for name, make in PICKLES.items():
        harm, file = folder / "harm", folder / "malicious.pkl"
        file.write_bytes(make(harm))
        yield _attempt("pickle", name, folder, lambda file=file: read_pickle(file))
    for name, make_archive in ARCHIVES.items():
        suffix, content = make_archive()
        file = folder / f"malicious.{suffix}"
        file.write_bytes(content)
        out = folder / "in" / "out"
        yield _attempt(
            "archive", name, folder, lambda file=file, out=out: unpack(file, out, ArchiveLimits(FILES, SIZE))
        )


def _attempt(kind: str, name: str, folder: Path, work: Callable[[], object]) -> Attempt:
    before, begun, said = _resident(reset=True), time.process_time(), ""
    try:
        work()
        failure = "it was not refused"
    except MerlinError as error:
        said = str(error)
        failure = "" if _is_one_sentence(said) else "what is said is not one short sentence"
    except BaseException as error:
        failure = f"{type(error).__name__}: {str(error)[:200]}"
    seconds, memory = time.process_time() - begun, _resident() - before
    left = {path.name for path in folder.rglob("*")} - {"malicious.pkl", "malicious.zip", "malicious.tar.gz", "in"}
    if not failure and left:
        failure = f"left behind: {sorted(left)}"
    if not failure and memory > MEMORY:
        failure = f"took {memory:,} bytes"
    if not failure and seconds > SECONDS:
        failure = f"took {seconds:.0f} seconds"
    return Attempt(kind, name, failure, said, round(seconds, 3), memory)


def _is_one_sentence(text: str) -> bool:
    return text.isprintable() and text.endswith(".") and len(text) < 600


def _resident(reset: bool = False) -> int:
    """The most memory held since the last reset, in bytes; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    (figure,) = (line for line in lines if line.startswith("VmRSS:" if reset else "VmHWM:"))
    return int(figure.split()[1]) * 1024


def limit_memory(most: int) -> None:
    """Let nothing that goes wrong here take the machine down with it."""
    if os.name == "posix":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))
