"""What a user may call a data set: its own name, or the name of a stream that reads it."""

from collections.abc import Sequence

from merlin_cl.errors import unknown
from merlin_cl.streams.catalogue import ENTRIES, Entry, entry
from merlin_cl.streams.registry import BUILT_IN


def named(names: Sequence[str]) -> list[Entry]:
    """The data sets that are meant, each once, in the order named."""
    wanted: dict[str, Entry] = {}
    for name in names:
        for data_set in BUILT_IN[name].data_sets if name in BUILT_IN else (name,):
            if data_set not in {one.name for one in ENTRIES}:
                raise unknown("data set or stream", name, [*(one.name for one in ENTRIES), *BUILT_IN])
            wanted[data_set] = entry(data_set)
    return list(wanted.values())
