"""Tasks described by the words that name their classes: what a learner may know of a task before its first example."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from merlin_cl.errors import InputError
from merlin_cl.streams.catalogue.checksum import digest
from merlin_cl.streams.stream import Stream
from merlin_cl.streams.word_vectors import Vector, class_vectors, mean


@dataclass(frozen=True)
class WordDescriptors:
    """Word vectors of some classes, from which tasks made of these classes get their descriptors."""

    file: Path
    classes: dict[str, Vector]
    """The mean vector of the words of each class name; classes none of whose words are known have none."""
    unknown: list[str]
    """Words that the file does not have."""

    @classmethod
    def of(cls, names: Iterable[str], file: Path) -> "WordDescriptors":
        """Look up all classes in one reading of the file."""
        classes, unknown = class_vectors(names, file)
        if not classes:
            raise InputError(
                f"{file} has no vector for any word of the class names; give word vectors of their language."
            )
        return cls(file, classes, unknown)

    def descriptor(self, names: Sequence[str]) -> Vector:
        """The task vector of some classes: the mean of their vectors, of length one, so that no task counts for more."""
        known = [self.classes[name] for name in names if name in self.classes]
        if not known:
            raise InputError(
                f"None of the words in {', '.join(names)} has a vector in {self.file}; rename these classes."
            )
        average = mean(known)
        length = sum(number * number for number in average) ** 0.5
        if length == 0:
            raise InputError(f"The word vectors of {', '.join(names)} in {self.file} cancel out; rename these classes.")
        return tuple(number / length for number in average)

    @property
    def note(self) -> str:
        """One sentence on the words that are not known; empty if all are."""
        if not self.unknown:
            return ""
        return (
            f"Note: {self.file.name} has no vector for {', '.join(self.unknown)}; other words stand for these classes."
        )


def describe_by_words(stream: Stream, file: Path) -> WordDescriptors:
    """Give every task of a stream the mean word vector of its class names, and note in its source where this is from."""
    if not stream.class_names:
        raise InputError(f"The classes of {stream.info.name} have no names; descriptor words needs some.")
    taught = {label for task in stream for label in task.info.classes}
    words = WordDescriptors.of([stream.class_names[label] for label in sorted(taught)], file)
    for task in stream:
        names = [stream.class_names[label] for label in task.info.classes]
        task.info = replace(task.info, descriptor=words.descriptor(names))
    stream.source = f"{stream.source}, described by {file.name}"
    stream.fingerprint = f"{stream.fingerprint}+{digest(file, 'sha256').partition(':')[2][:16]}"
    return words
