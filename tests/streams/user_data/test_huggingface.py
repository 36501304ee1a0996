"""Data sets of the library `datasets`: images, lists and columns, in memory and saved."""

import numpy as np
import pytest
from PIL import Image

from merlin_cl.errors import InputError, MerlinError, UsageError
from merlin_cl.streams.stream import Stream


def test_without_the_library_the_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    with pytest.raises(MerlinError, match=r"pip install merlin-cl\[huggingface\]"):
        Stream.from_huggingface(tmp_path)


@pytest.fixture(scope="module")
def library():
    return pytest.importorskip("datasets")


@pytest.fixture
def images(library):
    draws = np.random.default_rng(0)
    pictures = [Image.fromarray(draws.integers(0, 256, (4, 6, 3), dtype=np.uint8)) for _ in range(40)]
    pictures[7] = pictures[7].convert("L")
    features = library.Features(
        {"image": library.Image(), "label": library.ClassLabel(names=["cat", "ant"]), "site": library.Value("string")}
    )
    columns = {"image": pictures, "label": [n % 2 for n in range(40)], "site": ["n"] * 20 + ["s"] * 20}
    return library.Dataset.from_dict(columns, features=features)


def test_images_with_named_classes(images):
    stream = Stream.from_huggingface(images, task="site")
    assert stream.class_names == ("ant", "cat")
    assert (stream.info.input_shape, stream.info.domain_incremental, len(stream)) == ((3, 4, 6), True, 2)
    assert [(task.train_count, task.test_count) for task in stream] == [(16, 4)] * 2
    assert Stream.from_huggingface(images, tasks=2, image_size=8).info.input_shape == (3, 8, 8)


def test_saved_folders_and_parts(library, images, tmp_path):
    both = library.DatasetDict(train=images, test=images.select(range(18, 22)))
    both.save_to_disk(str(tmp_path / "saved"))
    stream = Stream.from_huggingface(tmp_path / "saved", task="site")
    assert stream.info.name == "saved"
    assert [(task.train_count, task.test_count) for task in stream] == [(20, 2)] * 2
    in_memory = Stream.from_huggingface(both, task="site")
    assert stream.fingerprint == in_memory.fingerprint
    with pytest.raises(InputError, match="cannot be read as a saved data set"):
        Stream.from_huggingface(tmp_path)


def test_lists_and_columns_of_numbers(library):
    numbers = np.random.default_rng(0).normal(5, 2, (40, 3))
    labels = ["xyzw"[n % 4] for n in range(40)]
    lists = library.Dataset.from_dict({"values": numbers.tolist(), "label": labels})
    columns = library.Dataset.from_dict({"a": numbers[:, 0], "b": numbers[:, 1], "c": numbers[:, 2], "label": labels})
    streams = [Stream.from_huggingface(one, tasks=2) for one in (lists, columns)]
    assert streams[0].fingerprint == streams[1].fingerprint
    assert streams[0].info.input_shape == (3,)


def test_bad_data_sets_are_named(library, images):
    with pytest.raises(UsageError, match="did you mean 'label'"):
        Stream.from_huggingface(images, "lable")
    with pytest.raises(UsageError, match=r"use Stream\.from_iterable"):
        Stream.from_huggingface(images.to_iterable_dataset())
    with pytest.raises(InputError, match="none called 'train'"):
        Stream.from_huggingface(library.DatasetDict(all=images))
    unlabelled = images.map(lambda row, at: row | {"label": -1 if at == 3 else row["label"]}, with_indices=True)
    with pytest.raises(InputError, match=r"'label' .* has no value in row 4"):
        Stream.from_huggingface(unlabelled, tasks=2)
