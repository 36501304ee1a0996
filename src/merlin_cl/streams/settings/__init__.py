"""Settings of every stream: one frozen dataclass each, which is the Python signature, the command line and the record of a
run. Nothing here needs torch."""

from merlin_cl.streams.settings.base import DrawnSettings, Evaluation, StreamSettings
from merlin_cl.streams.settings.heterogeneous import HeterogeneousSettings
from merlin_cl.streams.settings.mnist import MnistDomainSettings, PermutedMnistSettings, RotatedMnistSettings
from merlin_cl.streams.settings.split import (
    AudioMnistSettings,
    SplitCifar10Settings,
    SplitCifar100By5Settings,
    SplitCifar100Settings,
    SplitFashionMnistSettings,
    SplitMiniImageNetBy5Settings,
    SplitMiniImageNetSettings,
    SplitMnistSettings,
    SplitSettings,
)
from merlin_cl.streams.settings.user_data import (
    ArraysSettings,
    FolderSettings,
    HuggingFaceSettings,
    OwnSettings,
    TableSettings,
)

__all__ = [
    "ArraysSettings",
    "AudioMnistSettings",
    "DrawnSettings",
    "Evaluation",
    "FolderSettings",
    "HeterogeneousSettings",
    "HuggingFaceSettings",
    "MnistDomainSettings",
    "OwnSettings",
    "PermutedMnistSettings",
    "RotatedMnistSettings",
    "SplitCifar10Settings",
    "SplitCifar100By5Settings",
    "SplitCifar100Settings",
    "SplitFashionMnistSettings",
    "SplitMiniImageNetBy5Settings",
    "SplitMiniImageNetSettings",
    "SplitMnistSettings",
    "SplitSettings",
    "StreamSettings",
    "TableSettings",
]
