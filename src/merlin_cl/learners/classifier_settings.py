"""Settings of every method that trains classifiers: which network. Free of torch until the network is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

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
    (input_shape, classes). In Python a module or a factory may be given as it is."""
    hidden_units: tuple[int, ...] = (100, 100)
    """Units of an MLP's hidden layers."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "network", _named({"network": self.network})["network"])  # where it is an object

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The settings that `record()` gave, or that a user wrote; a network may be an object."""
        return super().from_record(_named(record))

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """The same with some settings changed; a network may be an object."""
        return super().changed(_named(changes))

    @classmethod
    def untuned(cls, stream: StreamInfo) -> Self:
        """The settings on a stream without a search: the means that all methods have alike, and what is the method's own."""
        return replace(super().untuned(stream), **shared_settings(cls, stream, cls.own_means))

    def classifier(self, stream: StreamInfo) -> Network:
        """The network for a stream's inputs and classes."""
        from merlin_cl.networks.choice import network_for

        return network_for(self.network, stream.input_shape, stream.classes, self.hidden_units)


def _named(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings with a name in place of a network that is an object."""
    network = record.get("network", "")
    if isinstance(network, str):
        return record
    from merlin_cl.networks.given import network_name

    return {**record, "network": network_name(network)}
