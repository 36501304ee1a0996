"""FaceScrub: photographs of faces, a folder for each person. As in HAT, the hundred people with most images are its classes, and
one image in ten of each, the last by name, is for testing."""

from functools import partial
from pathlib import Path

from merlin_cl.errors import InputError
from merlin_cl.inputs.pictures import folders_in, images_in
from merlin_cl.streams.datasets.dataset import DataSet, PartName
from merlin_cl.streams.datasets.picture_files import PictureFiles

CLASSES = 100
SHARE = 10


def facescrub(place: Path) -> DataSet:
    """FaceScrub from the folder that holds the people's folders."""
    images = {folder.name: images_in(folder) for folder in folders_in(place)}
    people = sorted(sorted(images, key=lambda name: (-len(images[name]), name))[:CLASSES])
    if len(people) < CLASSES:
        raise InputError(
            f"{place} has the folders of {len(people)} people; {CLASSES} are needed, each with a person's images."
        )
    return DataSet("FaceScrub", str(place), tuple(people), partial(_read, [images[name] for name in people]))


def _read(people: list[list[Path]], part: PartName) -> PictureFiles:
    files = [file for images in people for file in images]
    labels = [label for label, images in enumerate(people) for _ in images]
    return PictureFiles(files, labels).divided(SHARE, part)
