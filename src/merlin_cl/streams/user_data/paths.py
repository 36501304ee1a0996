"""What a path given in place of a stream's name holds. Free of torch."""

from pathlib import Path

from merlin_cl.errors import MissingPathError, UsageError
from merlin_cl.streams.settings.user_data import (
    ArraysSettings,
    FolderSettings,
    HuggingFaceSettings,
    OwnSettings,
    TableSettings,
)

OWN: dict[str, type[OwnSettings]] = {
    settings.stream: settings for settings in (FolderSettings, TableSettings, ArraysSettings, HuggingFaceSettings)
}
SUFFIXES: dict[str, type[OwnSettings]] = {
    ".csv": TableSettings,
    ".tsv": TableSettings,
    ".parquet": TableSettings,
    ".pq": TableSettings,
    ".npz": ArraysSettings,
}
SAVED = ("dataset_info.json", "dataset_dict.json")
"""What `datasets` leaves in a folder it saves to."""


def looks_like_a_path(name: str) -> bool:
    """Whether a user who writes this means a file or folder.

    >>> [looks_like_a_path(name) for name in ("./images", "data.csv", "split-mnits")]
    [True, True, False]
    """
    path = Path(name).expanduser()
    return "/" in name or "\\" in name or name.startswith(("~", ".")) or path.suffix in SUFFIXES or path.exists()


def settings_for(path: Path) -> type[OwnSettings]:
    """The settings of the form that the data at a path have."""
    if not path.is_dir() and path.suffix.lower() not in SUFFIXES:
        what = "is a file of a form that is not known" if path.is_file() else "is neither a file nor a folder"
        raise UsageError(
            f"{path} {what}; give a folder of images, a .csv, .parquet or .npz file, or the name of a stream."
        )
    if not path.exists():
        raise MissingPathError(f"{path} is not there; check the path.")
    return kind_of(path)


def kind_of(path: Path) -> type[OwnSettings]:
    """The settings of the form that data at a path have, or would have if they were there."""
    if path.suffix.lower() in SUFFIXES and not path.is_dir():
        return SUFFIXES[path.suffix.lower()]
    return HuggingFaceSettings if any((path / name).is_file() for name in SAVED) else FolderSettings
