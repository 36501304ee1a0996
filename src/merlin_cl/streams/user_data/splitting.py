"""A part of every class kept apart, to be scored on."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from merlin_cl.errors import InputError
from merlin_cl.randomness import generator
from merlin_cl.streams.user_data.division import Division

if TYPE_CHECKING:
    from merlin_cl.streams.user_data.building import Placed


def split_off(
    placed: "Placed", at: Tensor, fraction: float, seed: int, purpose: str, division: Division
) -> tuple[Tensor, Tensor]:
    """Positions `at` as those that remain and those split off, both ascending: of each class of each task a fraction, but at
    least one and not all.

    What is split off of a class depends on the seed and that class alone. A class that has one example in some task and more
    in others is not scored in that task.
    """
    outputs, tasks = placed.outputs[at], placed.tasks[at]
    taken = torch.zeros(len(at), dtype=torch.bool)
    for output, name in enumerate(division.class_names):
        if int((outputs == output).sum()) == 1:
            left = "" if purpose == "test" else " left to learn from"
            raise InputError(
                f"Class {name!r} has a single example{left}; it needs two at least, one to learn from and one to be scored on. "
                "Add some or leave the class out."
            )
    for (task, label), output in division.outputs.items():
        own = ((outputs == output) & (tasks == task)).nonzero().squeeze(1)
        if len(own) > 1:
            count = min(max(round(len(own) * fraction), 1), len(own) - 1)
            draws = generator(seed, "own", purpose, division.names[task], label)
            taken[own[torch.randperm(len(own), generator=draws)[:count]]] = True
    return at[~taken], at[taken]
