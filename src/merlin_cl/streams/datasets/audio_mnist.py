"""AudioMNIST: ten digits spoken by sixty people, a folder of wav files for each.

Twelve speakers are for testing, those of the first of the five divisions that the authors publish; nobody is heard in both parts.
"""

import re
from functools import partial
from pathlib import Path

from merlin_cl.errors import InputError
from merlin_cl.inputs.pictures import folders_in
from merlin_cl.streams.class_lists import official_classes
from merlin_cl.streams.datasets.dataset import DataSet, PartName
from merlin_cl.streams.datasets.sound import SoundFiles

TEST_SPEAKERS = {5, 13, 18, 22, 26, 32, 33, 42, 45, 51, 52, 60}
NAME = re.compile(r"(?P<digit>\d)_(?P<speaker>\d+)_(?P<take>\d+)\.wav")


def audio_mnist(place: Path) -> DataSet:
    """AudioMNIST from the folder that holds the speakers' folders."""
    counted = "{:,} training recordings"
    return DataSet("AudioMNIST", str(place), official_classes("audiomnist"), partial(_read, place), counted)


def _read(place: Path, part: PartName) -> SoundFiles:
    files, labels = [], []
    for folder in folders_in(place):
        for file in sorted(folder.glob("*.wav")):
            named = NAME.fullmatch(file.name)
            if named is None:
                raise InputError(f"{file} is not named <digit>_<speaker>_<take>.wav; rename it or take it away.")
            if (int(named["speaker"]) in TEST_SPEAKERS) == (part == "test"):
                files.append(file)
                labels.append(int(named["digit"]))
    return SoundFiles(files, labels)
