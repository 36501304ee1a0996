"""Streams of tasks in which every training example arrives once, one file a benchmark. Nothing imported here needs torch until
`Stream` is asked for."""

from typing import TYPE_CHECKING

from merlin_cl.streams.registry import stream_names, stream_settings
from merlin_cl.streams.settings import StreamSettings

if TYPE_CHECKING:
    from merlin_cl.streams.stream import Stream

__all__ = ["Stream", "StreamSettings", "stream_names", "stream_settings"]


def __getattr__(name: str) -> type["Stream"]:
    if name == "Stream":
        from merlin_cl.streams.stream import Stream

        return Stream
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
