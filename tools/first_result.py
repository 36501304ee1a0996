"""How long a newcomer waits for a first result: follow README.md to the letter in an empty folder, installation excluded.

`python tools/first_result.py` takes the `make` target that the README names first, runs what the Makefile has for it, then the
README's Python; it prints the CPU seconds and seconds by the clock of each, and fails where the first takes more than `--limit`
CPU seconds. CPU seconds on a busy machine are more than on an idle one.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def first_commands() -> list[list[str]]:
    """What the first `make` of the README runs, with the programs of this Python."""
    target = re.search(r"^make (\w+)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    if target is None:
        raise SystemExit("README.md names no `make` target; it should begin with one.")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    recipe = re.search(rf"^{target[1]}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    if recipe is None:
        raise SystemExit(f"The Makefile has no target {target[1]}, which README.md names.")
    lines = [line.strip() for line in recipe[1].splitlines()]
    return [line.replace("$(BIN)", str(Path(sys.executable).parent)).split() for line in lines]


def python_block() -> str:
    """The README's Python."""
    match = re.search(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    if match is None:
        raise SystemExit("README.md has no block of Python.")
    return match[1]


def measured(commands: list[list[str]], folder: str) -> tuple[float, float]:
    """CPU seconds and seconds by the clock of commands; their output is the user's to see."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    for command in commands:
        subprocess.run(command, cwd=folder, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - begun


def main() -> None:
    """Measure, tell, judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="of CPU for the first result")
    limit = parser.parse_args().limit
    steps = {"first result": first_commands(), "the README's Python": [[sys.executable, "-c", python_block()]]}
    taken = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, commands in steps.items():
            taken[name] = measured(commands, folder)
    for name, (cpu, clock) in taken.items():
        print(f"{name}: {cpu:.1f} CPU seconds, {clock:.1f} s by the clock")
    if taken["first result"][0] > limit:
        raise SystemExit(f"The first result took more than {limit:g} CPU seconds.")


if __name__ == "__main__":
    main()
