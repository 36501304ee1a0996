"""The names of the classes of each data set, by label, and the order in which the paper brings them. Free of torch."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _lists() -> dict[str, dict[str, Any]]:
    content = (files("merlin_cl.streams") / "class_lists.json").read_text(encoding="utf-8")
    lists: dict[str, dict[str, Any]] = json.loads(content)
    return lists


def official_classes(data_set: str) -> tuple[str, ...]:
    """The names of all classes, by label.

    >>> official_classes("cifar10")[:3]
    ('airplane', 'automobile', 'bird')
    """
    return tuple(_lists()[data_set]["official"])


def paper_classes(data_set: str) -> tuple[str, ...]:
    """The names of all classes in the order in which the paper's tasks bring them; by label where it has none.

    >>> paper_classes("cifar100")[:3]
    ('beaver', 'dolphin', 'otter')
    """
    return tuple(_lists()[data_set].get("paper", _lists()[data_set]["official"]))


def wordnet_ids() -> tuple[str, ...]:
    """The WordNet id of each class of mini-ImageNet, by label.

    >>> wordnet_ids()[0], official_classes("mini-imagenet")[0]
    ('n01532829', 'house_finch')
    """
    return tuple(_lists()["mini-imagenet"]["wordnet_ids"])
