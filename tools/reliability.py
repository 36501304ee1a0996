"""Try to break what is promised, count tries and failures, and write the table of docs/reliability.md.

    python tools/reliability.py                          # all, half an hour; goes on where it was stopped
    python tools/reliability.py kill-resume loader-fuzz  # some
    python tools/reliability.py loader-fuzz --only 4711  # one try, to see what went wrong

Every test's record is results/reliability/<test>.json. It belongs to the source it was made with: with other source, a test
begins anew. The exit code is 1 where a try failed.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "results" / "reliability"


class Test(NamedTuple):
    """Something to try, and how often; what it is, docs/reliability.md says."""

    tries: int
    module: str
    function: str


TESTS = {
    "kill-resume": Test(50, "kill_resume", "outcomes"),
    "kill-save": Test(50, "saving", "killed"),
    "two-savers": Test(1000, "saving", "two_at_once"),
    "loader-fuzz": Test(20_000, "loader_fuzz", "outcomes"),
    "pickles": Test(45, "strangers", "pickles"),
    "archives": Test(30, "strangers", "archives"),
    "slow-viewers": Test(500, "viewers", "outcomes"),
    "threads": Test(2000, "threads", "outcomes"),
    "soak": Test(0, "soak", "outcomes"),
}
"""How often the soak tries is not said beforehand: as often as there is time for."""


class Record:
    """How often a test was tried, and what failed; on disk every other second."""

    def __init__(self, name: str) -> None:
        self.path = RECORDS / f"{name}.json"
        self.values: dict[str, Any] = {
            "test": name,
            "tries": 0,
            "failures": 0,
            "failed": [],
            "seconds": 0.0,
            "source": source(),
        }
        if self.path.exists():
            kept = json.loads(self.path.read_text("utf-8"))
            self.values = kept if kept["source"] == self.values["source"] else self.values
        self._since = self._written = time.monotonic()
        self._before = self.values["seconds"]

    def note(self, outcome: str | None) -> None:
        """Count a try."""
        if outcome is not None:
            self.values["failures"] += 1
            self.values["failed"] = [*self.values["failed"], {"try": self.values["tries"], "what": outcome}][:20]
        self.values["tries"] += 1
        if time.monotonic() > self._written + 2:
            self.write()

    def write(self) -> None:
        """Write it."""
        self._written = time.monotonic()
        self.values |= {
            "seconds": round(self._before + self._written - self._since, 1),
            "date": datetime.now(UTC).date().isoformat(),
            "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.values, indent=1) + "\n", "utf-8")
        part.replace(self.path)


def source() -> str:
    """What the source is: the name git gives to its content, with changes not committed yet."""
    done = (
        subprocess.run(["git", "ls-files", "-s", "src"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        + subprocess.run(["git", "diff", "HEAD", "--", "src"], cwd=ROOT, capture_output=True, text=True).stdout
    )
    return subprocess.run(
        ["git", "hash-object", "--stdin"], input=done, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()[:12]


def outcomes(name: str, start: int, stop: int, scratch: Path, minutes: float | None = None) -> Iterator[str | None]:
    """Make the tries of a test."""
    test = TESTS[name]
    module = __import__(f"reliability_trials.{test.module}", fromlist=[test.function])
    function = getattr(module, test.function)
    scratch.mkdir(parents=True, exist_ok=True)
    return (function if minutes is None else partial(function, minutes=minutes))(start, stop, scratch)


def tried(name: str, scratch: Path, soak_minutes: float) -> int:
    """Make the tries of a test that are not made yet; how many failed in all."""
    record = Record(name)
    start, wanted = record.values["tries"], TESTS[name].tries
    minutes = soak_minutes - record.values["seconds"] / 60 if name == "soak" else None
    if (minutes is None and start < wanted) or (minutes is not None and minutes > 0):
        if name in ("pickles", "archives"):  # one process makes all
            record.values["tries"] = record.values["failures"] = start = 0
        for outcome in outcomes(name, start, wanted, scratch / name, minutes):
            record.note(outcome)
        record.write()
    print(f"{name}: {record.values['tries']:,} tries, {record.values['failures']} failures", flush=True)
    for failed in record.values["failed"]:
        print(f"  try {failed['try']}: {failed['what']}", flush=True)
    failures: int = record.values["failures"]
    return failures


def main() -> int:
    """Make the tries asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST", help=f"{', '.join(TESTS)}; all unless given")
    parser.add_argument("--soak-minutes", type=float, default=10, help="How long the soak lasts in all")
    parser.add_argument("--only", type=int, metavar="N", help="Make one try, and write nothing")
    options = parser.parse_args()
    if unknown := set(options.tests) - TESTS.keys():
        parser.error(f"{', '.join(sorted(unknown))}: there is no such test; choose from {', '.join(TESTS)}")
    with tempfile.TemporaryDirectory(prefix="merlin-reliability-") as folder:
        scratch = Path(folder)
        if options.only is not None:
            (name,) = options.tests
            outcome = next(iter(outcomes(name, options.only, options.only + 1, scratch / name)))
            print(outcome or "nothing went wrong")
            return int(outcome is not None)
        failures = sum(tried(name, scratch, options.soak_minutes) for name in options.tests or TESTS)
    subprocess.run([sys.executable, "-m", "tools.pages", "reliability"], cwd=ROOT, check=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
