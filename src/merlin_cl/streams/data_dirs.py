"""Where data sets are looked for: the folder the user names, the one in the environment variable MERLIN_DATA, the cache folder
of the platform. Free of torch."""

import os
from pathlib import Path

import platformdirs

from merlin_cl.errors import MissingPathError
from merlin_cl.streams.catalogue.entry import Entry


def usual_folders() -> list[Path]:
    """The folders that are looked through where the user names none; the first one is where fetched data sets are put."""
    named = os.environ.get("MERLIN_DATA")
    cache = Path(platformdirs.user_cache_dir("merlin-cl", appauthor=False))
    return [Path(named).expanduser(), cache] if named else [cache]


def searched(data: str | Path | None = None) -> list[Path]:
    """The folders that are looked through: the one the user names, or the usual ones. A folder that was named must exist."""
    if data is not None:
        return [existing(data, "The data folder")]
    folders = usual_folders()
    if len(folders) > 1:
        existing(folders[0], "MERLIN_DATA, the data folder")
    return folders


def existing(folder: str | Path, what: str) -> Path:
    """The folder, which must exist."""
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise MissingPathError(f"{what} {folder} is not a folder; make it, or name the one that holds your data sets.")
    return path


def find(entry: Entry, data: str | Path | None = None) -> Path | None:
    """The folder that holds a data set, None where there is none.

    One that is incomplete is found all the same: what it lacks is reported when it is read.
    """
    for folder in searched(data):
        for place in (folder / subfolder for subfolder in entry.folders):
            if place.is_dir() and any(next(place.glob(sign), None) for sign in entry.signs):
                return place
    return None
