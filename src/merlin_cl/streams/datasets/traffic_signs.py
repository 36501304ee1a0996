"""GTSRB, German traffic signs in 43 classes.

Either in folders by class, train/<class>/ and test/<class>/, or as published: Training/<class>/ or
Final_Training/Images/<class>/, and Final_Test/Images/ with the labels in GT-final_test.csv. Whole images, not cut to the sign.
"""

import csv
from functools import partial
from pathlib import Path

from merlin_cl.errors import InputError
from merlin_cl.inputs.pictures import folders_in, images_in
from merlin_cl.streams.datasets.dataset import DataSet, PartName
from merlin_cl.streams.datasets.picture_files import PictureFiles

CLASSES = 43
TRAINING_FOLDERS = ("train", "Final_Training/Images", "Training")
LABELS = "GT-final_test.csv"


def traffic_signs(place: Path) -> DataSet:
    """GTSRB from its folder."""
    return DataSet(
        "GTSRB", str(place), tuple(f"traffic sign {number}" for number in range(CLASSES)), partial(_read, place)
    )


def _read(place: Path, part: PartName) -> PictureFiles:
    if part == "test" and not (place / "test").is_dir():
        return _published_test(place)
    folders = ("test",) if part == "test" else TRAINING_FOLDERS
    present = next((place / folder for folder in folders if (place / folder).is_dir()), None)
    if present is None:
        raise InputError(f"{place} has none of the folders {', '.join(folders)}; `merlin data get gtsrb` fetches them.")
    files, labels = [], []
    for folder in folders_in(present):
        label = _label(folder.name, folder)
        images = images_in(folder)
        files += images
        labels += [label] * len(images)
    return PictureFiles(files, labels)


def _published_test(place: Path) -> PictureFiles:
    images = place / "Final_Test" / "Images"
    table = next((file for folder in (place, place.parent, images) if (file := folder / LABELS).is_file()), None)
    if table is None:
        raise InputError(f"{place} has neither a folder 'test' nor {LABELS}; `merlin data get gtsrb` fetches it.")
    files, labels = [], []
    with table.open(newline="", encoding="utf-8") as content:
        for row in csv.DictReader(content, delimiter=";"):
            if not row.get("Filename") or row.get("ClassId") is None:
                raise InputError(f"{table} lacks the columns Filename and ClassId; put the official file in its place.")
            files.append(images / row["Filename"])
            labels.append(_label(row["ClassId"], table))
    return PictureFiles(files, labels)


def _label(text: str, where: Path) -> int:
    if not text.isdigit() or int(text) >= CLASSES:
        raise InputError(f"{where} has the class {text!r}; classes are 0 to {CLASSES - 1}. Rename it or take it away.")
    return int(text)
