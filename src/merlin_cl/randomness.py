"""Random choice in streams: a generator of its own for each purpose and task, so that no task depends on another."""

import hashlib

import torch


def generator(seed: int, *purpose: str | int) -> torch.Generator:
    """A generator that the seed and the purpose alone determine."""
    text = "/".join(map(str, ("stream", seed, *purpose)))
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1
    return torch.Generator(device="cpu").manual_seed(number)
