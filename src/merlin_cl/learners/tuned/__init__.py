"""Settings that `merlin tune` chose, a file for each stream and method, with the record of the search. Free of torch."""

from __future__ import annotations

import functools
import json
from importlib.resources import files
from typing import Any


def tuned_settings(method: str, stream: str) -> dict[str, Any]:
    """The settings that a search has chosen for a method on a stream; none where there was no search.

    >>> tuned_settings("single", "split-mnist")
    {}
    """
    record = search_record(method, stream)
    return {} if record is None else dict(record["settings"])


@functools.cache
def search_record(method: str, stream: str) -> dict[str, Any] | None:
    """How these were found, as `merlin tune` wrote it: space, trials, seeds, data, revision and command."""
    for file in files(__package__).iterdir():  # a name from a result may be no name of a file
        if file.name == f"{stream}-{method}.json":
            record: dict[str, Any] = json.loads(file.read_text("utf-8"))
            return record
    return None
