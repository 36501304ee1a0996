"""The exemplars a learner keeps, as small pictures inside the page."""

import base64
import io
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from merlin_cl.report.page.checkpoint_reader import Kept

PICTURES = 120
"""At most so many in one gallery."""
OF_A_CLASS = 10
"""At most so many of a class of a task."""
SIDE = 48
"""The longest side of a picture; larger ones are made smaller."""


def gallery(kept: Kept) -> dict[str, Any] | None:
    """The first exemplars of every class of every task; None where there are none or they are no pictures."""
    x = kept.array("memory", "x")
    labels, tasks = kept.method("memory", "labels"), kept.method("memory", "tasks")
    if x is None or not labels or not is_picture(x.shape[1:]):
        return None
    groups: dict[tuple[int, int], list[int]] = {}
    for place, group in enumerate(zip(tasks, labels, strict=True)):
        groups.setdefault(group, []).append(place)
    shown = max(1, min(OF_A_CLASS, PICTURES // len(groups)))
    return {
        "count": len(labels),
        "shape": list(x.shape[1:]),
        "tasks": [
            {
                "task": kept.task_names[task],
                "classes": [
                    {
                        "name": class_names(kept.task_names[task], kept.task_classes[task]).get(label, str(label)),
                        "count": len(groups[task, label]),
                        "pictures": [data_uri(picture(x[place])) for place in groups[task, label][:shown]],
                    }
                    for label in sorted(held for of_task, held in groups if of_task == task)
                ],
            }
            for task in sorted({task for task, _ in groups})
        ],
    }


def is_picture(shape: tuple[int, ...]) -> bool:
    """Whether an input [channels, height, width] can be looked at."""
    return len(shape) == 3 and shape[0] in (1, 3) and min(shape[1:]) >= 8 and max(shape[1:]) <= 512


def picture(x: NDArray[Any]) -> Image.Image:
    """An input [channels, height, width] as a picture; numbers that are not bytes are stretched from black to white."""
    if x.dtype != np.uint8:
        low, high = float(x.min()), float(x.max())
        x = np.round(255 * (x - low) / (high - low or 1.0)).astype(np.uint8)
    image = Image.fromarray(x[0] if len(x) == 1 else np.ascontiguousarray(x.transpose(1, 2, 0)))
    image.thumbnail((SIDE, SIDE))
    return image


def data_uri(image: Image.Image) -> str:
    """The picture as an address that holds it."""
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def class_names(task: str, classes: list[int]) -> dict[int, str]:
    """The names of a task's classes, read off the name of the task where that lists them.

    >>> class_names("cat and dog", [2, 3]), class_names("permutation 4", [0, 1])
    ({2: 'cat', 3: 'dog'}, {})
    """
    names = re.split(r" and |, ", task)
    return dict(zip(classes, names, strict=True)) if len(names) == len(classes) else {}
