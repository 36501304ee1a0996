"""How long a newcomer waits for a first figure: follow README.md to the letter in an empty folder.

    python tools/first_result.py                  # what the README's first `make` runs, and its Python, with this installation
    python tools/first_result.py --clone          # from `git clone` on: clone, installation, then the same
    python tools/first_result.py --clone --out results/first_result/clone.json

It prints the CPU seconds and the seconds by the clock of each step, and fails where the demonstration takes more than `--limit`
CPU seconds, which are more on a busy machine than on an idle one. What the variable PIP_ARGS holds, such as where to get torch
without CUDA, goes to the installation. `python -m tools.pages readme` writes the record into the README.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIGURE = re.compile(rb"task 1/\d+ done .*? \d+\.\d")
"""The first accuracy that the demonstration prints."""

Seconds = dict[str, float]
"""Of the processor (`cpu`) and by the clock (`clock`)."""


def first_target(root: Path) -> tuple[str, list[list[str]]]:
    """The first `make` target of the README, and what the Makefile runs for it once everything is installed."""
    target = re.search(r"^make (\w+)", (root / "README.md").read_text("utf-8"), re.MULTILINE)
    if target is None:
        raise SystemExit("README.md names no `make` target; it should begin with one.")
    recipe = re.search(rf"^{target[1]}:.*\n((?:\t.*\n)+)", (root / "Makefile").read_text("utf-8"), re.MULTILINE)
    if recipe is None:
        raise SystemExit(f"The Makefile has no target {target[1]}, which README.md names.")
    return target[1], [line.split() for line in recipe[1].splitlines()]


def python_block(root: Path) -> str:
    """The README's Python."""
    block = re.search(r"^```python\n(.*?)^```$", (root / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    if block is None:
        raise SystemExit("README.md has no block of Python.")
    return block[1]


def measured(command: Sequence[str], folder: Path) -> tuple[Seconds, float | None]:
    """Seconds of a command, and after how many by the clock it printed the first accuracy, if it did; its output is shown."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0
    )
    assert process.stdout is not None
    written, first = b"", None
    while part := process.stdout.read(4096):
        written += part
        sys.stdout.write(part.decode("utf-8", "replace"))
        if first is None and FIGURE.search(written):
            first = time.monotonic() - begun
    if process.wait():
        raise SystemExit(f"`{' '.join(command)[:80]}` ended with exit code {process.returncode}.")
    clock, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": round(cpu, 1), "clock": round(clock, 1)}, first


def followed(folder: Path, clone: bool) -> dict[str, Seconds]:
    """Seconds of every step, in an empty folder."""
    steps: dict[str, Seconds] = {}
    root, programs = ROOT, Path(sys.executable).parent
    if clone:
        root = folder / "merlin-cl"
        steps["git clone"], _ = measured(["git", "clone", "--quiet", str(ROOT), str(root)], folder)
        steps["installation"], _ = measured(["make", ".venv/installed", *_pip_arguments()], root)
        programs = root / ".venv" / "bin"
    target, recipe = first_target(root)
    for command in recipe:
        words = [word.replace("$(BIN)", str(programs)) for word in command]
        steps[f"make {target}"], first = measured(words, folder)
        if first is not None:
            steps["first accuracy on the screen"] = {"clock": round(first, 1)}
    steps["the README's Python"], _ = measured([str(programs / "python"), "-c", python_block(root)], folder)
    return steps


def _pip_arguments() -> list[str]:
    given = os.environ.get("PIP_ARGS", "")
    return [f"PIP_ARGS={given}"] if given else []


def main() -> None:
    """Measure, tell, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clone", action="store_true", help="begin with git clone and an installation of its own")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="of CPU for the demonstration")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write a record of it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        steps = followed(Path(folder), options.clone)
    for name, seconds in steps.items():
        cpu = f"{seconds['cpu']:.1f} CPU seconds, " if "cpu" in seconds else ""
        print(f"{name}: {cpu}{seconds['clock']:.1f} s by the clock")
    if options.out:
        command = "python tools/first_result.py" + " --clone" * options.clone
        load = [round(value, 2) for value in os.getloadavg()]
        record = {"command": command, "steps": steps, "cores": os.cpu_count(), "load average": load}
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    slowest = max(seconds["cpu"] for name, seconds in steps.items() if name.startswith("make "))
    if slowest > options.limit:
        raise SystemExit(f"The demonstration took more than {options.limit:g} CPU seconds.")


if __name__ == "__main__":
    main()
