"""Commands that compute nothing answer at once: torch takes seconds to import and must not be."""

import resource
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from merlin_cl.cli import exit_code
code = exit_code(sys.argv[1:])
print("torch" in sys.modules, file=sys.stderr)
sys.exit(code)
"""


def cpu_seconds_of_children():
    """CPU seconds rather than time on the clock, which a busy machine stretches."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--help", "--method", "single"],
        ["run", "permuted-mnist", "--method", "gdumb-ensemble", "--help"],
        ["run", "--method", "single", "--seed", "x"],
        ["run", "./nowhere", "--method", "single"],
        ["run", "./", "--method", "single", "--help"],
        ["tune", "--help"],
        ["grid", "--help"],
        ["reproduce", "--help"],
        ["reproduce", "list"],
        ["list"],
        ["show", "--help"],
        ["diagnose", "--help"],
        ["demo", "--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_answers_in_two_seconds_without_torch(arguments, tmp_path):
    before = cpu_seconds_of_children()
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "False", done.stderr
    assert cpu_seconds_of_children() - before < 2
