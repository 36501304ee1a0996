"""Test the package with the oldest dependencies that pyproject.toml allows.

Makes an environment with every direct dependency at its lower bound, those of the extras that are tested included, and runs the
tests that touch them. A bound that does not hold has to be raised. Downloads about 1 GB, or 3 GB with torch at its own bound;
`--instead torch==2.13.0` leaves a dependency at another version.

    python tools/lowest_dependencies.py --into lowest --instead torch==2.13.0
"""

import argparse
import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("tables", "huggingface", "ray", "tune", "tensorboard", "onnx", "docs", "dev")
# Every third-party package is used by one of these; what takes long and uses nothing more is left out.
TESTS = (
    "tests/learners",
    "tests/networks",
    "tests/estimator",
    "tests/streams",
    "tests/tuning",
    "tests/runs",
    "tests/report",
    "tests/cli",
    "tests/docs/test_site.py",
    "tests/metrics",
)


def lower_bounds(project: dict) -> Iterator[tuple[str, str]]:
    """Name and lowest version of every direct dependency and of those of the tested extras."""
    lines = [*project["dependencies"], *(line for extra in EXTRAS for line in project["optional-dependencies"][extra])]
    for requirement in map(Requirement, lines):
        if requirement.name != project["name"]:
            (lowest,) = (part.version for part in requirement.specifier if part.operator == ">=")
            yield requirement.name, lowest


def main() -> int:
    """Install and test; the exit code is that of the tests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=Path(".lowest"), help="Folder of the environment")
    parser.add_argument(
        "--instead", action="append", default=[], metavar="NAME==VERSION", help="Not at its lower bound"
    )
    parser.add_argument("--pip-args", default="", help="Extra arguments for pip")
    parser.add_argument("tests", nargs="*", default=TESTS, help="Tests to run in place of the usual")
    options = parser.parse_args()

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = dict(lower_bounds(project)) | dict(pin.split("==") for pin in options.instead)
    options.into.mkdir(parents=True, exist_ok=True)
    constraints = options.into.resolve() / "lowest.txt"
    constraints.write_text("".join(f"{name}=={version}\n" for name, version in pins.items()), "utf-8")

    python = options.into.resolve() / "bin" / "python"
    if not python.exists():
        venv.create(options.into, with_pip=True)
    install = [python, "-m", "pip", "install", "--quiet", "-c", constraints, *options.pip_args.split()]
    subprocess.run([*install, "-e", f"{ROOT}[{','.join(EXTRAS)}]"], check=True)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([python, "-m", "pytest", *options.tests], cwd=ROOT, env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
