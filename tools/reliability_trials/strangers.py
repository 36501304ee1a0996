"""The files made to do harm that the tests keep: official pickles and archives as an attacker would offer them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests"


def pickles(start: int, stop: int, scratch: Path) -> Iterator[str | None]:
    """One outcome for each pickle."""
    yield from _of_kind("pickle")


def archives(start: int, stop: int, scratch: Path) -> Iterator[str | None]:
    """One outcome for each archive."""
    yield from _of_kind("archive")


def _of_kind(kind: str) -> Iterator[str | None]:
    paths = [str(TESTS), *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, "-m", "streams.malicious"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    for attempt in map(json.loads, done.stdout.splitlines()):
        if attempt["kind"] == kind:
            yield f"{attempt['name']}: {attempt['failure']}" if attempt["failure"] else None
    if done.returncode:
        yield done.stderr[-500:]
