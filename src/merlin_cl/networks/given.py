"""Networks given as objects: a module, or what makes one. Settings speak of them by name, as text, and nothing is ever pickled.

What can be imported is named by where it is, `package.module:factory`. Any other is held in memory for as long as the process
lives, under a name made of checksums, `given:Net-0b5e2f81-9c1d4a70`; whoever reads that name elsewhere has to give the object
again, and it is compared by its checksum.
"""

import copy
import hashlib
import importlib
import inspect
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from merlin_cl.errors import UsageError
from merlin_cl.networks.reference import Factory

PREFIX = "given:"
STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
"""What torch's normalisations call the numbers that they keep of their inputs: these are learned, and in a file."""
_GIVEN: dict[str, Factory] = {}


def network_name(network: Any) -> str:
    """The name by which settings speak of a network: of a text the text, of an object one by which it is found again.

    A module stands for itself: every network starts from its weights, and its last linear layer is made as wide as there are
    classes. A factory is called with (input_shape, classes), and again for every network that is to start from fresh weights.

    >>> from collections import Counter
    >>> network_name("mlp"), network_name(Counter)
    ('mlp', 'collections:Counter')
    >>> network_name(nn.Linear(2, 2))[:13]
    'given:Linear-'
    """
    if isinstance(network, str):
        return network
    if isinstance(network, nn.Module):
        name = f"{PREFIX}{type(network).__name__}-{_structure(network)}-{_start(network)}"
        if name not in _GIVEN:
            _GIVEN[name] = GivenModule(network)
        return name
    if not callable(network):
        raise UsageError(
            f"network is {network!r}; give a name such as mlp, a torch.nn.Module, or a function of (input_shape, classes) that "
            "makes one."
        )
    if _is_importable(network):
        return f"{network.__module__}:{network.__qualname__}"
    label = getattr(network, "__name__", type(network).__name__).strip("<>")
    name = f"{PREFIX}{label}-{_source(network)}"
    _GIVEN[name] = network
    return name


def is_given(name: str) -> bool:
    """Whether a name is that of an object."""
    return name.startswith(PREFIX)


def given(name: str) -> Factory:
    """What makes the network of a name; UsageError where no such object was given to this process."""
    if name not in _GIVEN:
        raise UsageError(
            f"The network {name} was an object, which no file holds; give the same module or factory again, as network=..."
        )
    return _GIVEN[name]


def require_given(name: str, network: Any, place: str) -> None:
    """See to it that the object which a file speaks of is there: known to this process, or `network` of the same structure.

    Learned weights are in the file, so a module may have others; its layers and its frozen weights must be the same.
    """
    if network is not None:
        own = network_name(network)
        if not is_given(own) or own.split("-")[:2] != name.split("-")[:2]:
            raise UsageError(
                f"{place} was learned with the network {name}, but network is {own}: another class, other layers or other "
                "frozen weights; give the one that it was learned with."
            )
        _GIVEN[name] = _GIVEN[own]
    if name not in _GIVEN:
        raise UsageError(
            f"{place} was learned with the network {name}, an object that no file holds; load it with network=..., the same "
            "module or factory."
        )


class GivenModule:
    """A factory that gives copies of a module, with a last linear layer for as many classes as are asked for."""

    def __init__(self, module: nn.Module) -> None:
        self._module = copy.deepcopy(module).cpu()

    def __call__(self, input_shape: tuple[int, ...], classes: int) -> nn.Module:
        """A copy; what is new in its last layer is drawn as `torch.nn.Linear` draws it."""
        module = copy.deepcopy(self._module)
        layers = [(name, layer) for name, layer in module.named_modules() if isinstance(layer, nn.Linear)]
        if not layers or layers[-1][1].out_features == classes:
            return module
        place, head = layers[-1]
        fresh = nn.Linear(head.in_features, classes, bias=head.bias is not None)
        if not place:
            return fresh
        owner, _, name = place.rpartition(".")
        setattr(module.get_submodule(owner), name, fresh)
        return module


def _structure(module: nn.Module) -> str:
    """A checksum of layers, of shapes, and of all numbers that are neither learned nor statistics of normalisation."""
    tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    for name, value in tensors.items():
        if is_lazy(value):
            raise UsageError(
                f"The network {type(module).__name__} has a lazy layer ({name}); run it once on an input before it is given."
            )
    digest = hashlib.sha256(repr(module).encode())
    for name, value in tensors.items():
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        if not value.requires_grad and not name.endswith(STATISTICS):
            digest.update(_content(value))
    return digest.hexdigest()[:8]


def _start(module: nn.Module) -> str:
    """A checksum of the weights that a module starts from."""
    digest = hashlib.sha256()
    for value in module.state_dict().values():
        digest.update(_content(value))
    return digest.hexdigest()[:8]


def _content(value: torch.Tensor) -> bytes:
    return value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def _is_importable(factory: Any) -> bool:
    """Whether another process finds this very factory by its name; of a script or a notebook (`__main__`) none does."""
    module, path = getattr(factory, "__module__", None), getattr(factory, "__qualname__", "<unnamed>")
    if not isinstance(module, str) or module == "__main__" or "<" in path:
        return False
    value: Any = importlib.import_module(module)
    for part in path.split("."):
        value = getattr(value, part, None)
    return value is factory


def _source(factory: Any) -> str:
    """A checksum of a factory's text, or of what it is compiled to where there is no text."""
    try:
        text = inspect.getsource(factory if inspect.isroutine(factory) or inspect.isclass(factory) else type(factory))
    except (OSError, TypeError):
        code = getattr(factory, "__code__", None)
        text = repr((code.co_code, code.co_consts) if code else type(factory))
    return hashlib.sha256(text.encode()).hexdigest()[:8]
