"""Which network suits an input: the paper's two, chosen by shape, or one of the user's own, chosen by name."""

from merlin_cl.errors import UsageError, unknown
from merlin_cl.networks import worth_convolutions
from merlin_cl.networks.given import given, is_given
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.module_bank import ModuleNetwork
from merlin_cl.networks.network import Network
from merlin_cl.networks.reference import resolve
from merlin_cl.networks.resnet import ResNet, reduced_resnet18

KINDS = ("auto", "mlp", "resnet", "resnet18")
LARGEST = 2**28
"""Weights that a network may have: 1 GiB of them, of which a method holds several."""


def network_for(kind: str, input_shape: tuple[int, ...], classes: int, hidden: tuple[int, ...]) -> Network:
    """The network of a kind for inputs of a shape; `auto`: a ResNet for images of 32 pixels or more, an MLP otherwise.

    `package.module:factory` is a `torch.nn.Module` of the user's own, made by calling the factory with (input_shape, classes);
    `given:...` is one that was given as an object (`given.py`).

    >>> network_for("auto", (1, 28, 28), 10, (100, 100)).size, network_for("auto", (3, 32, 32), 10, (100, 100)).size
    (89610, 31307)
    """
    if is_given(kind):
        return ModuleNetwork(given(kind), input_shape, classes, kind)
    if ":" in kind:
        return ModuleNetwork(resolve(kind), input_shape, classes, kind)
    if kind not in KINDS:
        raise unknown("network", kind, (*KINDS, "package.module:factory"))
    if kind.startswith("resnet") and len(input_shape) != 3:
        raise UsageError(f"A {kind} needs images [channels, height, width]; the inputs have shape {list(input_shape)}.")
    if kind == "resnet18":
        return reduced_resnet18(input_shape, classes)
    if kind == "resnet" or (kind == "auto" and worth_convolutions(input_shape)):
        return ResNet(input_shape, classes)
    network = MLP(input_shape, classes, hidden)
    if network.size > LARGEST:
        raise UsageError(
            f"A network of {network.size:,} weights is larger than the {LARGEST:,} allowed; give fewer hidden units or columns."
        )
    return network
