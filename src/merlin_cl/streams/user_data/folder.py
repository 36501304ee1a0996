"""Images in a folder for each class, perhaps in a folder for each task.

class/image     or     task/class/image     or one of the two below train/ and below test/ (or val/)
"""

from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from merlin_cl.errors import InputError
from merlin_cl.inputs.pictures import folders_in, images_in, read_images, shape_of
from merlin_cl.streams.settings.user_data import FolderSettings
from merlin_cl.streams.user_data.examples import Examples, OwnData

TEST_FOLDERS = ("test", "val", "valid", "validation")


class LabelledPicture(NamedTuple):
    """An image file, and what its folders are called."""

    file: Path
    label: str
    task: str | None


def read(settings: FolderSettings, path: Path) -> OwnData:
    """The images below a folder."""
    parts = {folder.name: folder for folder in folders_in(path)}
    testing = next((name for name in TEST_FOLDERS if name in parts), None)
    if "train" in parts and testing and set(parts) <= {"train", *TEST_FOLDERS}:
        train, test = _listed(parts["train"]), _listed(parts[testing])
    else:
        train, test = _listed(path), None
    shape = shape_of([one.file for one in [*train, *(test or [])]], settings.image_size)
    return OwnData(
        str(path),
        shape,
        _examples(train, shape),
        None if test is None else _examples(test, shape),
        tasks_from="a folder for each task (task/class/image)",
    )


def _examples(pictures: list[LabelledPicture], shape: tuple[int, int, int]) -> Examples:
    def inputs() -> Tensor:
        return read_images([one.file for one in pictures], shape)

    tasks = [one.task for one in pictures if one.task is not None]
    return Examples([one.label for one in pictures], tasks or None, inputs, lambda at: str(pictures[at].file))


def _listed(root: Path) -> list[LabelledPicture]:
    """Every image with the names of its folders: one level for all, or two."""
    pictures: list[LabelledPicture] = []
    if stray := images_in(root):
        raise InputError(f"{stray[0]} is in no folder of a class; put images into a folder for each class.")
    for outer in folders_in(root):
        inner, images = folders_in(outer), images_in(outer)
        if inner and images:
            raise InputError(f"{outer} holds both images and folders; it must be a class or a task, not both.")
        for folder in inner:
            if deeper := folders_in(folder):
                raise InputError(f"{deeper[0]} is a folder too deep; give class/image or task/class/image.")
        for folder in inner or [outer]:
            files, task = images_in(folder), outer.name if inner else None
            if not files:
                what = f"the class {folder.name!r}" if inner else "a class or a task"
                raise InputError(f"{folder} is empty; put images of {what} there or take the folder away.")
            pictures += [LabelledPicture(file, folder.name, task) for file in files]
    if not pictures:
        raise InputError(f"{root} holds no folders with images; give a folder for each class.")
    flat, deep = ([one for one in pictures if (one.task is None) == is_flat] for is_flat in (True, False))
    if flat and deep:
        raise InputError(
            f"{flat[0].file} lies in a folder of a class but {deep[0].file} in one of a task and a class; give either "
            "class/image or task/class/image throughout."
        )
    return pictures
