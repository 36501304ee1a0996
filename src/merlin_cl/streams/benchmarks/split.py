"""Split streams: the classes of a data set arrive a few a task, in an order that the settings choose."""

from pathlib import Path

import torch

from merlin_cl.protocol import TaskInfo
from merlin_cl.randomness import generator
from merlin_cl.streams.benchmarks.sampling import TaskPlan, drawn_stream
from merlin_cl.streams.class_lists import paper_classes
from merlin_cl.streams.datasets import open_data_set
from merlin_cl.streams.settings import SplitSettings
from merlin_cl.streams.stream import Stream


def build(settings: SplitSettings, seed: int, data: str | Path | None = None) -> Stream:
    """The stream that a seed gives."""
    source = open_data_set(settings.data_set, data)
    label = {name: number for number, name in enumerate(source.classes)}
    order, size = class_order(settings, seed), settings.classes_per_task
    plans = []
    for index in range(settings.tasks):
        places = range(index * size, (index + 1) * size)
        names = [order[place] for place in places]
        info = TaskInfo(index, tuple(places), (" and " if size == 2 else ", ").join(names))
        plans.append(TaskPlan(info, source, {label[name]: place for name, place in zip(names, places, strict=True)}))
    return drawn_stream(settings, seed, plans, order, data)


def class_order(settings: SplitSettings, seed: int) -> tuple[str, ...]:
    """The names of the classes in the order in which they arrive: the place of a class is its output in the head."""
    match settings.class_order:
        case "paper":
            return paper_classes(settings.data_set)
        case "official":
            return settings.all_classes
        case "shuffled":
            names = settings.all_classes
            shuffled = torch.randperm(len(names), generator=generator("stream", seed, settings.stream, "class order"))
            return tuple(names[at] for at in shuffled.tolist())
        case _:
            return settings.listed_classes
