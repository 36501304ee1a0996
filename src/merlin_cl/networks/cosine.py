"""A head that compares directions: a logit is the cosine of an input's features and the class's column, over a temperature."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from merlin_cl.networks.network import Backward, BatchUse, Network, RowModule, Weight


@dataclass(frozen=True)
class CosineNetwork(Network):
    """Another network whose last layer's columns are taken as proxies of the classes; its bias plays no part."""

    inner: Network
    temperature: float

    @property
    def input_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """That of the inner network."""
        return self.inner.input_shape

    @property
    def classes(self) -> int:  # type: ignore[override]
        """That of the inner network."""
        return self.inner.classes

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of the inner network."""
        return self.inner.shapes

    @property
    def statistics(self) -> tuple[str, ...]:
        """Those of the inner network."""
        return self.inner.statistics

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Those of the inner network."""
        return self.inner.constants

    @property
    def head(self) -> tuple[str, str]:
        """The inner network's last layer."""
        return self.inner.head

    @property
    def examples_at_once(self) -> int:
        """As of the inner network."""
        return self.inner.examples_at_once

    def initial(self, members: int, generator: torch.Generator) -> Tensor:
        """As the inner network draws them."""
        return self.inner.initial(members, generator)

    def forward(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None = None) -> Tensor:
        """Cosines over the temperature, [M, N, classes]."""
        features = self.inner.forward(self._identity_head(weights), x, batch)
        return self._cosines(features, weights[self.head[0]].value)

    def traced(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse) -> tuple[Tensor, Backward]:
        """See `Network`: the inner network leads back from its features, autograd from the cosines."""
        proxies, bias = (weights[name] for name in self.head)
        features, through_inner = self.inner.traced(self._identity_head(weights), x, batch)
        ends = features.detach().requires_grad_(), proxies.value.detach().requires_grad_()
        with torch.enable_grad():
            logits = self._cosines(*ends)

        def backward(slope: Tensor) -> None:
            assert proxies.gradient is not None
            assert bias.gradient is not None
            by_features, by_proxies = torch.autograd.grad(logits, ends, slope)
            through_inner(by_features)
            proxies.gradient.copy_(by_proxies)
            bias.gradient.zero_()

        return logits.detach(), backward

    def _cosines(self, features: Tensor, proxies: Tensor) -> Tensor:
        unit = functional.normalize(features, dim=2), functional.normalize(proxies, dim=1)
        return torch.bmm(*unit) / self.temperature

    def _identity_head(self, weights: Mapping[str, Weight]) -> dict[str, Weight]:
        """The weights with a last layer that lets features through; where its gradient would go nobody looks."""
        name, bias = self.head
        value = weights[name].value
        width = value.shape[1]
        through = torch.eye(width, dtype=value.dtype, device=value.device).repeat(len(value), 1, 1)
        nothing = value.new_zeros(len(value), width)
        if weights[name].gradient is None:
            return {**weights, name: Weight(through), bias: Weight(nothing)}
        unread = torch.empty_like(through), torch.empty_like(nothing)
        return {**weights, name: Weight(through, unread[0]), bias: Weight(nothing, unread[1])}

    def with_outputs(self, count: int) -> "CosineNetwork":
        """The same with another number of outputs."""
        return CosineNetwork(self.inner.with_outputs(count), self.temperature)

    def features(self, flat: Tensor, x: Tensor) -> Tensor:
        """What is compared with the proxies."""
        return self.inner.features(flat, x)

    def torch_views(self, flat: Tensor) -> dict[str, Tensor]:
        """As of the inner network."""
        return self.inner.torch_views(flat)

    def module(self, row: Tensor) -> nn.Module:
        """One member with all its weights as one parameter."""
        return RowModule(self, row)
