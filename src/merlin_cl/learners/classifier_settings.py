"""Settings of every method that trains classifiers: which network. Free of torch until the network is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from merlin_cl.learners.means import shared_settings
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.protocol import StreamInfo

if TYPE_CHECKING:
    from merlin_cl.networks.network import Network


@dataclass(frozen=True)
class ClassifierSettings(MethodSettings):
    """The small classifier that a method trains, the same for all methods unless told otherwise."""

    own_means: ClassVar[frozenset[str]] = frozenset()
    """Settings that make the method what it is, and are not those that all methods have alike (`means.py`)."""

    network: str = "auto"
    """The classifier: mlp, resnet (the paper's narrow ResNet-10), resnet18 (its rivals' larger backbone), auto (mlp or resnet,
    whichever suits the input's shape), or a torch.nn.Module of your own as package.module:factory, which is called with
    (input_shape, classes)."""
    hidden_units: tuple[int, ...] = (100, 100)
    """Units of an MLP's hidden layers."""

    @classmethod
    def untuned(cls, stream: StreamInfo) -> Self:
        """The settings on a stream without a search: the means that all methods have alike, and what is the method's own."""
        return replace(super().untuned(stream), **shared_settings(cls, stream, cls.own_means))

    def classifier(self, stream: StreamInfo) -> Network:
        """The network for a stream's inputs and classes."""
        from merlin_cl.networks.choice import network_for

        return network_for(self.network, stream.input_shape, stream.classes, self.hidden_units)
