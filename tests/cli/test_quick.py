"""Commands that compute nothing answer at once: what takes seconds to import is not imported."""

import json
import subprocess
import sys

import pytest

COMMANDS = [
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
]
SLOW = {"torch", "scipy", "sklearn", "matplotlib", "pandas", "numba", "datasets", "ray", "optuna"}
PROGRAM = """
import contextlib, json, os, sys
from merlin_cl.cli import exit_code
modules = []
for arguments in json.loads(sys.argv[1]):
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        exit_code(arguments)
    modules.append([name for name in sys.modules if "." not in name])
print(json.dumps(modules))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """What has been imported after each command, all of them one after another in a fresh process."""
    folder = tmp_path_factory.mktemp("quick")
    command = [sys.executable, "-c", PROGRAM, json.dumps(COMMANDS)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [set(names) for names in json.loads(done.stdout)]


@pytest.mark.parametrize("number", range(len(COMMANDS)), ids=[" ".join(command) for command in COMMANDS])
def test_it_imports_nothing_that_takes_long(imported, number):
    assert "merlin_cl" in imported[number]
    assert imported[number] & SLOW == set()
