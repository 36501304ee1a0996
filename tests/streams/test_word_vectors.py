"""GloVe's text format, read from files the tests write, and tasks described by the words of their class names."""

import math

import pytest
import torch

from merlin_cl.errors import InputError
from merlin_cl.streams.descriptors import WordDescriptors, describe_by_words
from merlin_cl.streams.stream import Stream
from merlin_cl.streams.word_vectors import class_vectors, find_words, read_words

GOOD = "cat 1 0 0\ndog 0 1e0 0\nt-shirt 0 0 -2.5\nzero 1 1 1\nfish 2 2 0\n"


@pytest.fixture
def words(tmp_path):
    """Write a file of word vectors."""

    def write(content, name="words.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write


def animals(*names):
    """A stream of two tasks with two classes each."""
    labels = torch.arange(4).repeat(10)
    options = {"seed": 0, "name": "animals"}
    return Stream.from_arrays(
        torch.rand(40, 3).numpy(), [names[label] for label in labels], [names[:2], names[2:]], **options
    )


def test_only_wanted_words_are_read(words):
    assert read_words(words(GOOD), ["dog", "cat", "cow"]) == {"cat": (1.0, 0.0, 0.0), "dog": (0.0, 1.0, 0.0)}


def test_a_header_and_words_with_spaces_are_passed_over(words):
    file = words("3 2\ncat 1 2\n. . 5 6\ndog 3 4\n")
    assert read_words(file, ["cat", "dog", "."]) == {"cat": (1.0, 2.0), "dog": (3.0, 4.0)}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("cat 1 2 3\ndog 1 2\n", r"Line 2 of .* \('dog'\) has 2 numbers where others have 3; .*cut off"),
        ("cat 1 2\ndog 1 2 3\n", "Line 2 .* has 3 numbers where others have 2"),
        ("cat 1 2\ndog", "Line 2 .* has no numbers"),
        ("cat 1 2\ndog 1 two\n", "The vector of 'dog' .* has 'two' among its numbers"),
        ("cat 1 2\ndog 1 nan\n", "has 'nan' among its numbers"),
        (b"cat 1 2\n\xff\xfe 1 2\n", "is not text in UTF-8"),
    ],
)
def test_damaged_files_are_named(words, content, sentence):
    with pytest.raises(InputError, match=sentence):
        read_words(words(content), ["cat", "dog"])


def test_a_class_name_is_the_mean_of_its_words(words):
    vectors, unknown = class_vectors(["Cat_fish", "T-shirt", "0", "cat-dog", "blue dog", "unicorn"], words(GOOD))
    assert vectors == {
        "Cat_fish": (1.5, 1.0, 0.0),
        "T-shirt": (0.0, 0.0, -2.5),  # whole, as the file has it
        "0": (1.0, 1.0, 1.0),  # by its name
        "cat-dog": (0.5, 0.5, 0.0),  # in parts
        "blue dog": (0.0, 1.0, 0.0),  # what is known of it
    }
    assert unknown == ["blue", "unicorn"]


def test_tasks_get_the_mean_of_their_classes_at_length_one(words):
    stream, file = animals("cat", "dog", "fish", "unicorn"), words(GOOD)
    source, fingerprint = stream.source, stream.fingerprint
    described = describe_by_words(stream, file)
    half = math.sqrt(0.5)
    for task in stream:
        assert task.info.descriptor == pytest.approx((half, half, 0.0))
    assert described.note == "Note: words.txt has no vector for unicorn; other words stand for these classes."
    assert stream.source == f"{source}, described by words.txt"
    assert stream.fingerprint.startswith(f"{fingerprint}+")


def test_other_vectors_are_other_data(words):
    prints = set()
    for content in (GOOD, GOOD.replace("cat 1", "cat 2")):
        stream = animals("cat", "dog", "fish", "zero")
        describe_by_words(stream, words(content))
        prints.add(stream.fingerprint.partition("+")[2])
    assert len(prints) == 2


def test_nothing_known_is_an_error(words):
    with pytest.raises(InputError, match="no vector for any word of the class names"):
        WordDescriptors.of(["unicorn", "dragon"], words(GOOD))
    with pytest.raises(InputError, match="None of the words in dragon, unicorn has a vector"):
        describe_by_words(animals("cat", "dog", "dragon", "unicorn"), words(GOOD))


def test_where_files_are_looked_for(words, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="No word vectors were found"):
        find_words()
    with pytest.raises(InputError, match=r"no file of word vectors nowhere.txt"):
        find_words("nowhere.txt")
    file = words(GOOD, "data/glove/glove.6B.50d.txt")
    assert find_words(data=tmp_path / "data") == file
    monkeypatch.setenv("MERLIN_DATA", str(tmp_path / "data"))
    assert find_words() == file
    assert find_words("glove.6B.50d.txt") == file
    assert find_words(str(file)) == file
    better = words(GOOD, "data/glove.6B.50d.classnames.txt")
    assert find_words() == better
