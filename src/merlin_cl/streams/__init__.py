"""Streams of tasks in which every training example arrives once, one file a benchmark. Nothing imported here needs torch."""

from merlin_cl.streams.registry import stream_names, stream_settings
from merlin_cl.streams.settings import StreamSettings

__all__ = ["StreamSettings", "stream_names", "stream_settings"]
