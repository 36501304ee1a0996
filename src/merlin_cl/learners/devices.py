"""Where a learner computes: a device that this machine and this torch have, or one sentence."""

import torch

from merlin_cl.errors import UsageError


def usable_device(name: object) -> torch.device:
    """The device of that name; UsageError where it is none, before any work."""
    try:
        device = torch.device(str(name))
        torch.empty(1, device=device).tolist()
    except (RuntimeError, AssertionError, NotImplementedError, TypeError, ValueError):
        kinds = ("cuda", "mps", "xpu")
        available = ["cpu", *(kind for kind in kinds if getattr(torch, kind).is_available())]
        raise UsageError(f"Device {name!r} is not available here; use one of: {', '.join(available)}.") from None
    return device
