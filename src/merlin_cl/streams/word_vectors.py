"""Word vectors in GloVe's text format: a word and its numbers a line, with spaces between them. Free of torch."""

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from merlin_cl.errors import InputError, MissingPathError
from merlin_cl.streams.data_dirs import usual_folders

USUAL_FILES = ("glove.6B.50d.classnames.txt", "glove.6B.50d.txt", "glove.6B.100d.txt", "glove.6B.300d.txt")
"""Files that are looked for where the user names none, in the data folders and in `glove` below them."""
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

Vector = tuple[float, ...]


def find_words(name: str = "", data: str | Path | None = None) -> Path:
    """The file of word vectors: a path, or a file name to look for where data sets are; without a name a usual one."""
    if name and Path(name).expanduser().is_file():
        return Path(name).expanduser()
    folders = [*([Path(data)] if data is not None else []), *usual_folders()]
    for file in (name,) if name else USUAL_FILES:
        for place in (folder / below / file for folder in folders for below in (".", "glove")):
            if place.is_file():
                return place
    if name:
        raise MissingPathError(f"There is no file of word vectors {name}; name one in GloVe's text format.")
    raise InputError(
        f"No word vectors were found (such as glove/{USUAL_FILES[1]} in {folders[0]}); get them from "
        "https://nlp.stanford.edu/projects/glove/ or name a file in that format."
    )


def read_words(file: Path, wanted: Iterable[str]) -> dict[str, Vector]:
    """The vectors of those of the wanted words that the file has, all of one width.

    Only their lines are read as numbers, so that a file of millions of words takes seconds; of all others the width is
    looked at.
    """
    wanted, vectors = set(wanted), {}
    try:
        with file.open(encoding="utf-8") as lines:
            for word, numbers in _lines(lines, file):
                if word in wanted and word not in vectors:
                    vectors[word] = numbers
    except UnicodeDecodeError:
        raise InputError(f"{file} is not text in UTF-8; give word vectors in GloVe's text format.") from None
    return {word: _vector(numbers, file, word) for word, numbers in vectors.items()}


def _lines(lines: TextIO, file: Path) -> Iterator[tuple[str, list[str]]]:
    """Every word with its numbers, still as text."""
    width = 0
    for number, line in enumerate(lines, start=1):
        word, *numbers = line.rstrip().split(" ")
        if number == 1 and len(numbers) == 1 and word.isdigit() and numbers[0].isdigit():
            continue  # word2vec begins with the number of words and their width
        width = width or len(numbers)
        if not numbers:
            raise InputError(f"Line {number} of {file} has no numbers; expected a word and its vector.")
        if len(numbers) > width and not _is_number(numbers[0]):
            continue  # a few "words" of GloVe's largest file have spaces in them
        if len(numbers) != width:
            raise InputError(
                f"Line {number} of {file} ({word!r}) has {len(numbers)} numbers where others have {width}; "
                "the file is damaged or cut off, so get it again."
            )
        yield word, numbers


def _vector(numbers: list[str], file: Path, word: str) -> Vector:
    for text in numbers:
        if not _is_number(text):
            raise InputError(f"The vector of {word!r} in {file} has {text!r} among its numbers; mend that line.")
    return tuple(map(float, numbers))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def spellings(name: str) -> list[list[list[str]]]:
    """A class name as words, and each word in the ways to look it up, best first: whole, in parts, a digit by its name.

    >>> spellings("Aquarium_fish 7")
    [[['aquarium']], [['fish']], [['7'], ['seven']]]
    >>> spellings("t-shirt")
    [[['t-shirt'], ['t', 'shirt']]]
    """
    spelled = []
    for word in re.split(r"[\s_,;()]+", name.lower()):
        parts = re.findall(r"[^\W\d_]+|\d+", word)
        if not parts:
            continue
        ways = [[word], parts, [DIGITS[int(part)] if part in "0123456789" else part for part in parts]]
        spelled.append([way for at, way in enumerate(ways) if way not in ways[:at]])
    return spelled


def class_vectors(names: Iterable[str], file: Path) -> tuple[dict[str, Vector], list[str]]:
    """The mean word vector of each class name that has any, and the words that the file does not know."""
    words = {name: spellings(name) for name in names}
    known = read_words(file, {part for all_of in words.values() for word in all_of for way in word for part in way})
    vectors, unknown = {}, []
    for name, all_of in words.items():
        parts: list[str] = []
        for word in all_of:
            ways = [[part for part in way if part in known] for way in word]
            best = next((way for way in ways if way), [])
            parts += best
            unknown += [] if best else word[0]
        if parts:
            vectors[name] = mean([known[part] for part in parts])
    return vectors, sorted(set(unknown))


def mean(vectors: list[Vector]) -> Vector:
    """The mean of vectors of one width.

    >>> mean([(1.0, 2.0), (3.0, 4.0)])
    (2.0, 3.0)
    """
    return tuple(sum(numbers) / len(vectors) for numbers in zip(*vectors, strict=True))
