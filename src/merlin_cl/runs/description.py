"""The stream of a run, its tasks described by words where the method asks for that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.progress import Display
from merlin_cl.streams.word_vectors import find_words

if TYPE_CHECKING:
    from merlin_cl.streams.stream import Stream


def described_stream(config: RunConfig, show: Display) -> Stream:
    """Build the stream, showing how far its features are. A method asks for words by its settings `descriptor` and `words`;
    unknown ones are told of.

    The file is looked for before the stream is built: what is missing is better known before data are read.
    """
    if getattr(config.method, "descriptor", None) != "words":
        return _built(config, show)
    from merlin_cl.streams.descriptors import describe_by_words

    folder = config.data if config.data is not None and Path(config.data).is_dir() else None
    file = find_words(getattr(config.method, "words", ""), folder)
    stream = _built(config, show)
    words = describe_by_words(stream, file)
    if words.note:
        show.say(words.note)
    return stream


def _built(config: RunConfig, show: Display) -> Stream:
    if not config.stream.features:
        return config.build_stream()
    from merlin_cl.features.extractor import listening

    with listening(lambda done, total: show.update(f"features {config.stream.features}", done, total)):
        return config.build_stream()
