"""A device that is not the CPU, on a machine that has none: torch's `meta`, made to hold numbers.

Within `elsewhere()`, a tensor that is made on `meta` or moved there keeps its numbers in a tensor of the CPU that nobody else
sees. Whoever computes with tensors of both places, or asks numpy for what is not on the CPU, gets the error that a GPU gives. As
there, single numbers of the CPU may take part, and places to look up may be on either.
"""

from contextlib import contextmanager, nullcontext

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

DEVICE = torch.device("meta")
LENIENT = (
    "aten::copy_",
    "aten::_to_copy",
    "aten::index",
    "aten::index_put_",
    "aten::index_put",
    "aten::_index_put_impl_",
)


class There(torch.Tensor):
    """A tensor on the device; `held` has its numbers."""

    @staticmethod
    def __new__(cls, held):
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=DEVICE,
        )
        made.held = held
        return made

    def __repr__(self):
        return f"There({self.held!r})"

    def __getitem__(self, places):
        return super().__getitem__(_as_tensors(places))

    def __setitem__(self, places, value):
        super().__setitem__(_as_tensors(places), value)

    def tolist(self):
        return self.cpu().tolist()

    def numpy(self, *args, **settings):
        raise TypeError("can't convert a tensor of this device to numpy; use cpu() first")

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return computed(func, args, kwargs or {})


def _as_tensors(places):
    """Places with tensors for lists, which torch would move there unseen."""
    if isinstance(places, tuple):
        return tuple(_as_tensors(part) for part in places)
    return torch.tensor(places, dtype=torch.int64) if isinstance(places, list) else places


@contextmanager
def elsewhere():
    """The device is there. Inference mode only turns gradients off: in it, torch makes no tensors of our own kind."""
    usual = torch._C._InferenceMode
    torch._C._InferenceMode = lambda mode: torch.no_grad() if mode else nullcontext()
    try:
        with Made(), Elsewhere():
            yield DEVICE
    finally:
        torch._C._InferenceMode = usual


class Made(TorchFunctionMode):
    """Moves there what `torch.tensor` makes of lists: on its own it does so unseen."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.tensor and kwargs.get("device") is not None:
            return torch.tensor(*args, **{**kwargs, "device": "cpu"}).to(kwargs["device"])
        return func(*args, **kwargs)


class Elsewhere(TorchDispatchMode):
    """Gives numbers to whatever is made on the device."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return computed(func, args, kwargs or {})


def computed(func, args, kwargs):
    """What an operation gives, on the device if any of its tensors is, or if it says so."""
    tensors = [value for value in tree_flatten((args, kwargs))[0] if isinstance(value, torch.Tensor)]
    there = [value for value in tensors if isinstance(value, There)]
    here = [value for value in tensors if not isinstance(value, There) and value.dim()]
    name, wanted = func._schema.name, kwargs.get("device")
    if there and here and name not in LENIENT:
        raise RuntimeError(f"Expected all tensors to be on the same device, but {name} found cpu and {DEVICE}.")
    if wanted is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}
        on_device = torch.device(wanted) == DEVICE
    else:
        on_device = isinstance(args[0], There) if name == "aten::copy_" else bool(there)
    plain_args, plain_kwargs = tree_map_only(There, lambda value: value.held, (args, kwargs))
    given = func(*plain_args, **plain_kwargs)
    if func._schema.is_mutable:  # in place, or into `out`: what was changed is given back as it is
        owners = {id(value.held): value for value in there}
        given = tree_map_only(torch.Tensor, lambda value: owners.get(id(value), value), given)
    if not on_device:
        return given
    return tree_map_only(torch.Tensor, lambda value: value if isinstance(value, There) else There(value), given)
