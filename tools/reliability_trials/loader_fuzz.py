"""Saved learners changed at random, half of them with a checksum made right again: each is refused in a sentence or answers.

A file that loads has to do all that a learner does: answer with finite numbers, learn another task, answer again. Every method's
files are changed in turn. Some changes name a module that is there to be imported; nothing may import it.
"""

import copy
import json
import random
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from merlin_cl import ContinualClassifier
from merlin_cl.errors import LONGEST, MerlinError
from merlin_cl.learners.saving import format as file_format
from reliability_trials import processes
from reliability_trials.learners import clouds, methods, taught
from reliability_trials.processes import resident

CANARY = "merlin_reliability_canary"
"""A module that can be imported, and that only a file names."""
MEMORY = 200_000_000
"""Bytes that reading a file may take beyond what the process had."""
CHUNK = 500
"""Tries of a process, whose memory is looked at when it ends."""
JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 10**6, 10**12, 2**63, 10**30, 0.5, -5.5, float("nan"), float("inf"), 1e300),
    *("", "x", "0", "é" * 50, f"{CANARY}:factory", f"{CANARY}.factory", "os:system", "x" * 100_000),
    *([], [1], [[1]], [0, 0, 0], [None], [10**6, 10**6], {}, {"a": 1}, {"0": 1}, {"network": f"{CANARY}:factory"}),
)


def outcomes(start: int, stop: int, scratch: Path) -> Iterator[str | None]:
    """One for each file."""
    (scratch / f"{CANARY}.py").write_text("def factory(input_shape, classes):\n    raise SystemExit(1)\n", "utf-8")
    for method in methods():
        file = scratch / f"{method}.safetensors"
        if not file.exists():
            taught(method).save(file)
    for first in range(start, stop, CHUNK):
        yield from processes.each(attempt, first, min(stop, first + CHUNK), scratch)


def attempt(number: int, scratch: Path) -> str | None:
    """Change a file and read it."""
    draws = random.Random(f"loader fuzz {number}")
    method = draws.choice(methods())
    changed = _with_right_checksum if number % 2 else _with_wrong_checksum
    content, what = changed(scratch / f"{method}.safetensors", draws)
    file = scratch / f"changed-{number % CHUNK}.safetensors"
    file.write_bytes(content)
    if str(scratch) not in sys.path:
        sys.path.insert(0, str(scratch))
    before = resident(reset=True)
    try:
        failure = _tried(file, draws)
    except MerlinError as error:
        said = str(error)
        failure = None if "\n" not in said and len(said) <= LONGEST else f"not a sentence: {said[:200]!r}"
    except Exception as error:
        failure = f"{type(error).__name__}: {str(error)[:200]}"
    if failure is None and CANARY in sys.modules:
        failure = "a module was imported that only the file names"
    if failure is None and (taken := resident() - before) > MEMORY:
        failure = f"it took {taken:,} bytes"
    sys.modules.pop(CANARY, None)
    file.unlink()
    return failure and f"{method}, {what}: {failure}"


def _tried(file: Path, draws: random.Random) -> str | None:
    """Load a learner and have it do what learners do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ContinualClassifier.load(file)
        asked = clouds(0, 1, 2, 3, count=8)[0]
        if not np.isfinite(model.predict_proba(asked)).all():
            return "an answer is not finite"
        if draws.random() < 0.25:  # most failures show at once, and this takes the longest
            model.partial_fit(*clouds(2, 4, seed=1)).end_task()
            if not np.isfinite(model.predict_proba(asked)).all():
                return "an answer is not finite after another task"
    return None


@cache
def _read(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    return file_format.read(file)


def _with_right_checksum(file: Path, draws: random.Random) -> tuple[bytes, str]:
    """One to three values, numbers or shapes changed, then written as a learner is."""
    parts = dict(zip(("header", "state"), copy.deepcopy(_read(file)), strict=True))
    places = []
    for _ in range(draws.choice([1, 1, 2, 3])):
        part = draws.choice(["header", "state", "state"])
        place = draws.choice([place for place in _places(parts[part]) if place])
        parts[part] = _replaced(parts[part], place, draws)
        places.append("/".join(map(str, (part, *place))))
    try:
        return file_format.to_bytes(parts["header"], parts["state"]), " and ".join(places)
    except (TypeError, ValueError, MerlinError):  # JSON does not hold it
        return file.read_bytes(), "nothing"


def _places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*here, key))


def _replaced(value: Any, place: tuple[Any, ...], draws: random.Random) -> Any:
    if not place:
        return _other_tensor(value, draws) if isinstance(value, torch.Tensor) else _other(value, draws)
    try:
        value[place[0]] = _replaced(value[place[0]], place[1:], draws)
    except (KeyError, IndexError, TypeError):  # an earlier change took the place away
        return value
    return value


def _other(value: Any, draws: random.Random) -> Any:
    """Something else in the place of a value that JSON holds."""
    if isinstance(value, dict) and value and draws.random() < 0.6:
        key = draws.choice(list(value))
        return draws.choice(
            [
                {name: item for name, item in value.items() if name != key},
                {**value, "another": draws.choice(JUNK)},
                {(f"{name}x" if name == key else name): item for name, item in value.items()},
            ]
        )
    if isinstance(value, list) and value and draws.random() < 0.6:
        return draws.choice([value[:-1], value[1:], value + value, [*value, draws.choice(JUNK)], value[::-1]])
    if type(value) in (int, float) and draws.random() < 0.6:
        return draws.choice([value + 1, value - 1, -value - 1, value * 1000, float(value), str(value)])
    return copy.deepcopy(draws.choice(JUNK))


def _other_tensor(tensor: torch.Tensor, draws: random.Random) -> torch.Tensor:
    """A tensor of another shape, type or content."""
    kinds = [torch.float64, torch.float32, torch.float16, torch.int64, torch.int32, torch.uint8, torch.bool]
    forms = [
        lambda: torch.zeros(0),
        lambda: tensor.flatten()[:1].clone(),
        lambda: tensor.to(draws.choice(kinds)),
        lambda: torch.cat([tensor, tensor]) if tensor.dim() else tensor.repeat(2),
        lambda: tensor[:-1] if tensor.dim() and len(tensor) else torch.tensor(3.0),
        lambda: tensor.unsqueeze(0),
        lambda: (
            tensor.transpose(0, -1).contiguous() if tensor.dim() > 1 else tensor.flip(0) if tensor.dim() else tensor
        ),
        lambda: torch.full_like(tensor, draws.choice([0, 1, 100])),
        lambda: _with_one_number_changed(tensor, draws),
        lambda: _with_one_number_changed(tensor, draws),
    ]
    return draws.choice(forms)()


def _with_one_number_changed(tensor: torch.Tensor, draws: random.Random) -> torch.Tensor:
    if not tensor.numel():
        return tensor
    flat = tensor.clone().flatten()
    values: list[float] = [-1, 0, 1, 2, 127]
    if tensor.is_floating_point():
        values += [float("nan"), float("inf"), float("-inf"), 1e4, 1e30 if tensor.dtype != torch.float16 else 6e4]
    elif tensor.dtype == torch.int64:
        values += [10**6, 2**62, -(2**62)]
    value = draws.choice(values)
    flat[draws.randrange(len(flat))] = abs(value) if tensor.dtype == torch.uint8 else value
    return flat.view(tensor.shape)


def _with_wrong_checksum(file: Path, draws: random.Random) -> tuple[bytes, str]:
    """Bytes changed as disks, lines and careless hands change them; the checksum is as it was."""
    content = bytearray(file.read_bytes())
    length = int.from_bytes(content[:8], "little")
    kind = draws.choice(["bits", "header bits", "cut", "longer", "length", "zeros", "moved", "numbers", "junk"])
    if kind in ("bits", "header bits"):
        stop = 8 + length if kind == "header bits" else len(content)
        for _ in range(draws.choice([1, 1, 2, 10])):
            content[draws.randrange(stop)] ^= 1 << draws.randrange(8)
    elif kind == "cut":
        del content[draws.randrange(len(content)) :]
    elif kind == "longer":
        content += draws.randbytes(draws.choice([1, 8, 1000]))
    elif kind == "length":
        content[:8] = draws.choice([0, 1, length - 1, length + 1, 2**31, 2**63, 2**64 - 1]).to_bytes(8, "little")
    elif kind == "zeros":
        begin = draws.randrange(len(content))
        content[begin : begin + 512] = bytes(len(content[begin : begin + 512]))
    elif kind == "moved":
        begin = draws.randrange(len(content))
        content = content[begin:] + content[:begin]
    elif kind == "numbers":
        header = json.loads(content[8 : 8 + length])
        name = draws.choice([name for name in header if name != "__metadata__"])
        header[name] = {
            **header[name],
            draws.choice(["shape", "data_offsets"]): [draws.choice([-1, 0, 2**40, 1.5])] * 2,
        }
        text = json.dumps(header).encode()
        content = bytearray(len(text).to_bytes(8, "little") + text + content[8 + length :])
    else:
        content = bytearray(draws.randbytes(draws.choice([0, 1, 7, 8, 9, 100, 5000])))
    return bytes(content), kind
