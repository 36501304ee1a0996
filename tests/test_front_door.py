"""`import merlin_cl` costs nothing, shows what there is, and every name it shows is there."""

import subprocess
import sys

import pytest

import merlin_cl
from merlin_cl import learners


@pytest.mark.parametrize("package", [merlin_cl, learners], ids=lambda package: package.__name__)
def test_every_name_is_there_and_has_a_docstring(package):
    assert [name for name in package.__all__ if not hasattr(package, name)] == []
    assert [name for name in package.__all__ if not getattr(package, name).__doc__] == []


def test_dir_shows_these_names_and_no_others():
    assert dir(merlin_cl) == sorted(merlin_cl.__all__)


@pytest.mark.parametrize("package", [merlin_cl, learners], ids=lambda package: package.__name__)
def test_other_names_are_no_attributes(package):
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018


def test_importing_it_imports_nothing_of_others_and_hardly_anything_of_its_own():
    program = """
import sys
before = set(sys.modules)
import merlin_cl, merlin_cl.learners
print(*sorted(name for name in set(sys.modules) - before if name.partition('.')[0] not in sys.stdlib_module_names))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["merlin_cl", "merlin_cl.learners"]
