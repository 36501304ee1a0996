"""Any `torch.nn.Module` as a network of which a bank holds M members, run at once through `torch.func`.

Slower than a network that is written for a bank, but it needs nothing from its author.
"""

import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from merlin_cl.errors import UsageError
from merlin_cl.networks.module_probe import probed, random_numbers
from merlin_cl.networks.network import BatchUse, Network, Weight
from merlin_cl.networks.reference import Factory

NORMS = nn.modules.batchnorm._NormBase
Tensors = dict[str, Tensor]


class ModuleNetwork(Network):
    """The module that a factory makes. What a row holds:

    - parameters that ask for a gradient, matrices as [in, out] like every network's;
    - `statistics`: buffers that the module changes in training, as batch normalisation does.

    Parameters that ask for no gradient (a frozen backbone) and buffers that never change are no part of a row: all members
    share those of one module made with a fixed seed. Where members take different examples (`BatchUse.shares`), the loss counts
    each member's own, while the statistics are those of the whole batch.
    """

    def __init__(self, factory: Factory, input_shape: tuple[int, ...], classes: int, name: str = "") -> None:
        self.input_shape = input_shape
        self.classes = classes
        self._factory = factory
        self._name = name or getattr(factory, "__name__", "given")
        self._template = self._made(seed=0)
        self._traits = probed(self._template, self._name, input_shape, classes)
        tensors = _tensors(self._template)
        learned = [key for key, value in self._template.named_parameters() if value.requires_grad]
        if not learned:
            raise UsageError(
                f"The network {self._name} has no parameter that asks for a gradient: nothing can be learned."
            )
        self._forms = {key: tensors[key] for key in (*learned, *self._traits.statistics)}  # shape and type of each
        self._constants = {key: value for key, value in tensors.items() if key not in self._forms}
        self._norms = [layer for layer in self._template.modules() if isinstance(layer, NORMS)]
        self._turn = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= {**state, "_turn": threading.RLock()}

    def _alone(self) -> AbstractContextManager[Any]:
        """One thread at a time: to run, the module is given the members' weights in place of its own."""
        return nullcontext() if torch.compiler.is_compiling() else self._turn

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Under the names of the module: parameters, then statistics."""
        return {key: tuple(_inputs_first(form).shape) for key, form in self._forms.items()}

    @property
    def statistics(self) -> tuple[str, ...]:
        """Buffers that the module changes in training."""
        return self._traits.statistics

    @property
    def examples_at_once(self) -> int:
        """As many as make the largest layer's outputs 32 MB."""
        return max(1, 2**23 // self._traits.largest)

    def torch_views(self, flat: Tensor) -> dict[str, Tensor]:
        """In the order of the module's `state_dict`."""
        views = self.views(flat)
        order = [key for key in self._template.state_dict() if key in views]
        return {key: views[key] for key in dict.fromkeys((*order, *views))}

    def initial(self, members: int, generator: torch.Generator) -> Tensor:
        """As the factory draws them, each member with a seed of its own from the generator."""
        rows = []
        for _ in range(members):
            tensors = _tensors(self._made(int(torch.randint(2**62, (), generator=generator))))
            rows.append(torch.cat([_inputs_first(tensors[key]).flatten().float() for key in self._forms]))
        return torch.stack(rows)

    def forward(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None = None) -> Tensor:
        """Logits [M, N, classes] for x [M, N, *input_shape]."""
        with self._alone():
            return self._forward(weights, x, batch)

    def _forward(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None) -> Tensor:
        given = {key: self._as_module_has_it(key, weights[key].value) for key in self._forms}
        learned = {key: value for key, value in given.items() if key not in self.statistics}
        statistics = {key: given[key].detach().clone() for key in self.statistics}  # the module writes into them
        self._template.train(batch is not None)
        if batch is None:
            return self._run(learned, statistics, x)[0]
        lonely = x.shape[1] == 1 and bool(self._norms)  # one value has no variance: let it stand twice
        with self._momentum(batch.momentum), self._draws(x, learned):
            logits, statistics = self._run(learned, statistics, torch.cat([x, x], dim=1) if lonely else x)
        self._remember(weights, statistics, batch)
        return logits[:, :1] if lonely else logits

    @property
    def head(self) -> tuple[str, str]:
        """Names of weight and bias of the module's last linear layer, which is taken for the one that gives the logits."""
        layers = dict(self._template.named_modules())
        linear = [name for name, layer in layers.items() if isinstance(layer, nn.Linear) and layer.bias is not None]
        learned = [name for name in linear if {f"{name}.weight", f"{name}.bias"} <= self._forms.keys()]
        if not learned:
            raise UsageError(
                f"The network {self._name} has no linear layer with a bias that is learned; a method that answers by features "
                "needs one as the last layer."
            )
        return f"{learned[-1]}.weight", f"{learned[-1]}.bias"

    def features(self, flat: Tensor, x: Tensor) -> Tensor:
        """What the last linear layer takes, [M, N, features], for x [M, N, *input_shape], in evaluation."""
        name = self.head[0].removesuffix(".weight")
        given = {
            key: self._as_module_has_it(key, view) for key, view in self.views(flat).items() if key not in self.head
        }
        learned = {key: value for key, value in given.items() if key not in self.statistics}
        owner, _, last = name.rpartition(".")
        place = self._template.get_submodule(owner)
        with self._alone():
            layer = place.get_submodule(last)
            self._template.eval()
            setattr(place, last, nn.Identity())
            try:
                return self._run(learned, {key: given[key] for key in self.statistics}, x)[0]
            finally:
                setattr(place, last, layer)

    def with_outputs(self, count: int) -> "ModuleNetwork":
        """What the factory makes for another number of classes."""
        return ModuleNetwork(self._factory, self.input_shape, count, self._name)

    @property
    def constants(self) -> Tensors:
        """Parameters that ask for no gradient, and buffers that never change."""
        return self._constants

    def module(self, row: Tensor) -> nn.Module:
        """One member, as the factory makes it."""
        plain = self._made(seed=0).to(row.dtype)
        views = self.views(row.detach().unsqueeze(0))
        tensors = {key: self._as_module_has_it(key, view)[0] for key, view in views.items()}
        with torch.no_grad():
            for key, value in _tensors(plain).items():
                value.copy_(tensors[key] if key in tensors else self._constants[key])
        return plain

    def _run(self, learned: Tensors, statistics: Tensors, x: Tensor) -> tuple[Tensor, Tensors]:
        """Logits, and the statistics as the module leaves them."""
        constants = {key: _like(value, x) for key, value in self._constants.items()}

        def member(own: Tensors, kept: Tensors, inputs: Tensor) -> tuple[Tensor, Tensors]:
            answer: Tensor = functional_call(self._template, {**constants, **own, **kept}, (inputs,))
            return answer, kept

        if self._traits.batched:
            randomness = "different" if self._traits.random else "error"
            logits, statistics = vmap(member, randomness=randomness)(learned, statistics, x)
            return logits, statistics
        outputs = []
        for place in range(len(x)):
            own, kept = ({key: value[place] for key, value in both.items()} for both in (learned, statistics))
            outputs.append(member(own, kept, x[place])[0])
        return torch.stack(outputs), statistics

    @torch.no_grad()
    def _remember(self, weights: Mapping[str, Weight], statistics: Tensors, batch: BatchUse) -> None:
        """Keep the new statistics; members that take no example keep their old ones."""
        for key, value in statistics.items():
            kept = weights[key].value
            new = _inputs_first(value, members=True).reshape(kept.shape).to(kept.dtype)
            if batch.shares is not None:
                taking = batch.shares.any(dim=1).view(-1, *[1] * (kept.dim() - 1))
                new = torch.where(taking, new, kept)
            kept.copy_(new)

    def _as_module_has_it(self, key: str, value: Tensor) -> Tensor:
        """[M, in, ..., out] as [M, out, in, ...], in the module's type where that is one of whole numbers."""
        form = self._forms[key]
        value = (value.movedim(-1, 1) if form.dim() > 1 else value).reshape(-1, *form.shape)
        return value if form.is_floating_point() else value.round().to(form.dtype)

    @contextmanager
    def _momentum(self, momentum: float) -> Iterator[None]:
        """Have normalisations weigh the batch so, unless it is the default: then by what their author chose."""
        own = [layer.momentum for layer in self._norms]
        for layer in self._norms if momentum != BatchUse().momentum else []:
            layer.momentum = momentum
        try:
            yield
        finally:
            for layer, before in zip(self._norms, own, strict=True):
                layer.momentum = before

    @contextmanager
    def _draws(self, x: Tensor, learned: Tensors) -> Iterator[None]:
        """Random numbers that depend on inputs and weights alone: the same training draws the same, resumed or not."""
        if not self._traits.random:
            yield
            return
        with torch.no_grad():
            total = float(x.double().sum() + sum(value.double().sum() for value in learned.values()))
        with random_numbers(struct.unpack("<Q", struct.pack("<d", total))[0], x.device):
            yield

    def _made(self, seed: int) -> nn.Module:
        with random_numbers(seed):
            try:
                module: object = self._factory(self.input_shape, self.classes)
            except (TypeError, ValueError, RuntimeError) as error:
                raise UsageError(
                    f"The network {self._name} cannot be made from the shape {list(self.input_shape)} and {self.classes} classes "
                    f"({' '.join(str(error).split())}); it is called with (input_shape, classes)."
                ) from error
        if not isinstance(module, nn.Module):
            raise UsageError(f"The network {self._name} gave a {type(module).__name__}; expected a torch.nn.Module.")
        return module


def _tensors(module: nn.Module) -> Tensors:
    return {key: value.detach() for key, value in (*module.named_parameters(), *module.named_buffers())}


def _inputs_first(tensor: Tensor, members: bool = False) -> Tensor:
    """[out, in, ...] as [in, ..., out], a single number as [1]; with `members`, all of this after a first dimension."""
    first = int(members)
    if tensor.dim() - first == 0:
        return tensor.unsqueeze(first)
    return tensor.movedim(first, -1) if tensor.dim() - first > 1 else tensor


def _like(constant: Tensor, x: Tensor) -> Tensor:
    return constant.to(x) if constant.is_floating_point() else constant.to(x.device)
