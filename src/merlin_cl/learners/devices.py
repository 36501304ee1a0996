"""Where a learner computes: a device that this machine and this torch have, or one sentence."""

import torch

from merlin_cl.errors import UsageError

AUTO = "auto"
"""The name that stands for a GPU where there is one, and for the CPU elsewhere."""
PREFERRED = ("cuda", "xpu")
"""What `auto` looks for, the first that there is; `mps` has no double precision, which several methods need."""


def usable_device(name: object) -> torch.device:
    """The device of that name, or the one that `auto` stands for here; UsageError where it is none, before any work.

    >>> usable_device("cpu")
    device(type='cpu')
    """
    if name == AUTO:
        return torch.device(next((kind for kind in PREFERRED if getattr(torch, kind).is_available()), "cpu"))
    try:
        device = torch.device(str(name))
        torch.empty(1, device=device).tolist()
    except (RuntimeError, AssertionError, NotImplementedError, TypeError, ValueError):
        kinds = ("cuda", "mps", "xpu")
        available = ["cpu", *(kind for kind in kinds if getattr(torch, kind).is_available())]
        raise UsageError(
            f"Device {name!r} is not available here; use one of: {', '.join(available)}, or auto."
        ) from None
    return device
