"""Experts along the depth of one network: after every stage a small reader with features, a projection and logits of its own."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from merlin_cl.errors import UsageError
from merlin_cl.networks.mlp import MLP, linear
from merlin_cl.networks.network import BatchUse, Network, RowModule, Weight
from merlin_cl.networks.resnet import ResNet


class Said(NamedTuple):
    """What the E experts say of N inputs, and what the last one's features become when others are to be found in them."""

    logits: Tensor  # [E, N, classes]
    projections: Tensor  # [E, N, projection]
    features: Tensor  # [E, N, width]
    student: Tensor  # [N, width]


@dataclass(frozen=True)
class DepthExperts(Network):
    """A trunk (an MLP or a ResNet) without its last layer, and E readers: of each hidden layer, or of each stage's maps.

    A reader is one layer with ReLU; of maps it is shown means over a grid of pixels, the finer the fewer maps there are, so
    that each is shown about as many numbers. The last layers of all experts stand in one matrix, [E * width, classes].
    """

    trunk: MLP | ResNet
    width: int
    projection: int

    @classmethod
    def of(cls, network: Network, width: int, projection: int) -> "DepthExperts":
        """Experts along a network that has stages which can be read."""
        if not isinstance(network, MLP | ResNet):
            raise UsageError(
                "mose reads what is inside a network and can do so in an mlp or a resnet; choose one of these."
            )
        if isinstance(network, MLP) and not network.hidden:
            raise UsageError("hidden_units is (); mose needs at least one hidden layer to read.")
        return cls(network, width, projection)

    @property
    def input_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """That of the trunk."""
        return self.trunk.input_shape

    @property
    def classes(self) -> int:  # type: ignore[override]
        """That of the trunk."""
        return self.trunk.classes

    @property
    def _stages(self) -> tuple[int, ...]:
        """Units or maps of every stage."""
        return self.trunk.hidden if isinstance(self.trunk, MLP) else self.trunk.maps

    @property
    def experts(self) -> int:
        """E."""
        return len(self._stages)

    @property
    def _grids(self) -> tuple[int, ...]:
        """Height and width of the grid that each stage's maps are averaged over."""
        return tuple(
            max(1, math.isqrt(2 * self._stages[-1] // maps)) if maps < self._stages[-1] else 1 for maps in self._stages
        )

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The trunk's layers, the readers, their projections, the student's layer, the last layers, the trunk's statistics."""
        statistics = {name: self.trunk.shapes[name] for name in self.trunk.statistics}
        shapes = {
            name: shape for name, shape in self.trunk.shapes.items() if name not in (*self.trunk.head, *statistics)
        }
        for expert, (units, grid) in enumerate(zip(self._stages, self._grids, strict=True)):
            read = units * grid**2 if isinstance(self.trunk, ResNet) else units
            shapes |= {f"reader.{expert}.weight": (read, self.width), f"reader.{expert}.bias": (self.width,)}
            shapes |= {f"projection.{expert}.weight": (self.width, self.projection)}
            shapes |= {f"projection.{expert}.bias": (self.projection,)}
        shapes |= {"student.weight": (self.width, self.width), "student.bias": (self.width,)}
        shapes |= {"head.weight": (self.experts * self.width, self.classes), "head.bias": (self.classes,)}
        return shapes | statistics

    @property
    def statistics(self) -> tuple[str, ...]:
        """Those of the trunk."""
        return self.trunk.statistics

    @property
    def examples_at_once(self) -> int:
        """As of the trunk."""
        return self.trunk.examples_at_once

    def initial(self, members: int, generator: torch.Generator) -> Tensor:
        """The trunk as it draws itself, linear layers as `torch.nn.Linear` draws them."""
        flat = torch.zeros(members, self.size)
        trunk = self.trunk.views(self.trunk.initial(members, generator))
        for name, view in self.views(flat).items():
            if name in trunk and name not in self.trunk.head:
                view.copy_(trunk[name])
            else:
                fan_in = self.width if name.startswith("head") else self.shapes[f"{name.rpartition('.')[0]}.weight"][0]
                view.copy_((torch.rand(view.shape, generator=generator) * 2 - 1) / math.sqrt(fan_in))
        return flat

    def forward(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None = None) -> Tensor:
        """All that the experts say, side by side, [M, N, outputs]; `said` takes it apart."""
        read = [
            linear(stage, weights[f"reader.{expert}.weight"], weights[f"reader.{expert}.bias"]).relu()
            for expert, stage in enumerate(self._read(weights, x, batch))
        ]  # [M, N, width] each
        heads = weights["head.weight"].value.split(self.width, dim=1)
        bias = weights["head.bias"].value.unsqueeze(1)
        logits = [torch.baddbmm(bias, features, head) for features, head in zip(read, heads, strict=True)]
        projections = [
            linear(features, weights[f"projection.{expert}.weight"], weights[f"projection.{expert}.bias"])
            for expert, features in enumerate(read)
        ]
        student = linear(read[-1], weights["student.weight"], weights["student.bias"])
        return torch.cat([*logits, *projections, *read, student], dim=2)

    def _read(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None) -> list[Tensor]:
        """What the readers are shown of every stage, [M, N, numbers] each."""
        if isinstance(self.trunk, MLP):
            h, readings = x.flatten(2), []
            for layer in range(self.experts):
                h = linear(h, weights[f"{layer}.weight"], weights[f"{layer}.bias"]).relu()
                readings.append(h)
            return readings
        return self.trunk.stages(weights, x, batch, self._grids)

    def said(self, outputs: Tensor) -> Said:
        """What one member's outputs [N, outputs] mean."""
        experts = self.experts
        sizes = [self.classes * experts, self.projection * experts, self.width * experts, self.width]
        *parts, student = outputs.split(sizes, dim=1)
        logits, projections, features = (torch.stack(part.chunk(experts, dim=1)) for part in parts)
        return Said(logits, projections, features, student)

    def with_outputs(self, count: int) -> "DepthExperts":
        """The same for another number of classes."""
        return DepthExperts(self.trunk.with_outputs(count), self.width, self.projection)

    def module(self, row: Tensor) -> nn.Module:
        """One member with all its weights as one parameter."""
        return RowModule(self, row)
