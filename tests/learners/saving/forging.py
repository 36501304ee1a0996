"""Files that somebody has changed, with the right checksum."""

import random

import torch

EVIL = "evil_module_that_is_not_there:factory"


def paths_of(value, here=()):
    """Every place in nested JSON and tensors."""
    yield here
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths_of(inner, (*here, key))


def at(value, path):
    for part in path:
        value = value[part]
    return value


def with_changed(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = with_changed(value[path[0]], path[1:], new) if path[1:] else new
    return copy


NUMBERS = [None, True, False, 0, 1, -1, 2, 7, 10**6, 10**12, -5.5, 0.5, float("nan"), float("inf"), 1e300]
JUNK = [*NUMBERS, "", "x", EVIL, "0", [], [1], [[1]], [0, 0, 0], {}, {"a": 1}, {"0": 1}]


def mutated(value, draws: random.Random):
    """Something else in its place: of another form, or the same form with another content."""
    if isinstance(value, torch.Tensor):
        return _other_tensor(value, draws.randrange(9), draws)
    kind = draws.randrange(6)
    if isinstance(value, dict) and value and kind < 3:
        name = draws.choice(sorted(value))
        rest = {key: item for key, item in value.items() if key != name}
        return [rest, {**value, "more": draws.choice(JUNK)}, {**rest, f"{name}x": value[name]}][kind]
    if isinstance(value, list) and value and kind < 4:
        place = draws.randrange(len(value))
        changed = [*value[:place], draws.choice(JUNK), *value[place + 1 :]]
        return [value[:place] + value[place + 1 :], [*value, draws.choice(value)], changed, value + value][kind]
    if isinstance(value, int | float) and not isinstance(value, bool) and kind < 4:
        return draws.choice([value + 1, value - 1, -value - 1, value * 1000, 10**9, float(value)])
    return draws.choice(JUNK)


def _other_tensor(value, kind, draws):
    if kind == 0:
        return torch.zeros(0)
    if kind == 1:
        return value.reshape(-1)[:1].clone() if value.numel() else torch.ones(1)
    if kind == 2:
        return value.to(draws.choice([torch.float64, torch.int64, torch.uint8, torch.float16, torch.bool]))
    if kind == 3:
        return torch.cat([value, value]) if value.dim() else value.repeat(2)
    if kind == 4:
        return value.unsqueeze(0)
    if kind == 5:
        return value[:-1] if value.dim() and len(value) else torch.tensor(3.0)
    if kind == 6:
        return torch.full_like(value, float("nan") if value.is_floating_point() else 100)
    if kind == 7:
        return torch.full_like(value, 1)
    return -value if value.is_floating_point() else value.flip(0) if value.dim() else value
