"""Which streams there are: ours, and those other packages add through the entry point group `merlin_cl.streams`.

An entry point names a settings class (see `StreamSettings`); nothing here imports torch.
"""

from merlin_cl.errors import unknown
from merlin_cl.installed import entry_points
from merlin_cl.streams.settings import (
    AudioMnistSettings,
    HeterogeneousSettings,
    PermutedMnistSettings,
    RotatedMnistSettings,
    SplitCifar10Settings,
    SplitCifar100By5Settings,
    SplitCifar100Settings,
    SplitFashionMnistSettings,
    SplitMiniImageNetBy5Settings,
    SplitMiniImageNetSettings,
    SplitMnistSettings,
    StreamSettings,
)
from merlin_cl.streams.user_data.paths import OWN

GROUP = "merlin_cl.streams"
BUILT_IN: dict[str, type[StreamSettings]] = {
    settings.stream: settings
    for settings in (
        SplitMnistSettings,
        PermutedMnistSettings,
        RotatedMnistSettings,
        SplitFashionMnistSettings,
        SplitCifar10Settings,
        SplitCifar100Settings,
        SplitCifar100By5Settings,
        SplitMiniImageNetSettings,
        SplitMiniImageNetBy5Settings,
        AudioMnistSettings,
        HeterogeneousSettings,
    )
}


def stream_names() -> list[str]:
    """Every stream that can be named, ours first.

    >>> stream_names()[:3]
    ['split-mnist', 'permuted-mnist', 'rotated-mnist']
    """
    return [*BUILT_IN, *sorted({point.name for point in entry_points(group=GROUP)} - BUILT_IN.keys())]


def stream_settings(name: str) -> type[StreamSettings]:
    """The settings class of a stream.

    >>> stream_settings("split-mnist")().info().tasks
    5
    """
    if name in BUILT_IN or name in OWN:
        return BUILT_IN.get(name) or OWN[name]
    for point in entry_points(group=GROUP, name=name):
        loaded: type[StreamSettings] = point.load()
        return loaded
    raise unknown("stream", name, stream_names())
