"""A reader of a method's class learns every setting, and sees what a few lines of code reach."""

import ast
import doctest
import importlib
import inspect
from dataclasses import fields

import pytest

from merlin_cl.learners.learner import Learner
from merlin_cl.learners.registry import BUILT_IN, method_settings
from merlin_cl.streams.registry import stream_names, stream_settings


def learner_of(method):
    module, _, name = method_settings(method).learner.partition(":")
    return getattr(importlib.import_module(module), name)


def documented(kind):
    """The names of a class's own fields that are followed by a docstring."""
    (tree,) = ast.parse(inspect.getsource(kind)).body
    pairs = zip(tree.body, tree.body[1:], strict=False)
    return {
        field.target.id
        for field, after in pairs
        if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    }


@pytest.mark.parametrize("method", BUILT_IN)
def test_every_method_shows_a_score(method):
    learner = learner_of(method)
    (example,) = doctest.DocTestFinder(recurse=False).find(learner, learner.__name__)
    assert any(f"'{method}'" in line.source.replace('"', "'") for line in example.examples)
    assert any(line.want.strip().endswith("%'") for line in example.examples)


@pytest.mark.parametrize(
    "kind",
    [method_settings(method) for method in BUILT_IN] + [stream_settings(name) for name in stream_names()],
    ids=lambda kind: kind.__name__,
)
def test_every_setting_is_documented(kind):
    known = {name for base in kind.__mro__[:-1] for name in documented(base)}
    assert {field.name for field in fields(kind)} - known == set()


@pytest.mark.parametrize("method", BUILT_IN)
def test_no_method_is_far_from_the_life_cycle(method):
    chain = learner_of(method).__mro__
    assert chain.index(Learner) <= 3, " -> ".join(kind.__name__ for kind in chain)
