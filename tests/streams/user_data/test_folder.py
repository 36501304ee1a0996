"""Folders of images: their layouts, their colours and sizes, and what is wrong with them."""

import shutil

import numpy as np
import pytest
from PIL import Image

from merlin_cl.errors import InputError, UsageError
from merlin_cl.streams.stream import Stream


def write(folder, count=5, size=(6, 4), mode="RGB", seed=0):
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        pixels = np.random.default_rng([seed, number]).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
        Image.fromarray(pixels).convert(mode).save(folder / f"{number}.png")
    return folder


@pytest.fixture
def flat(tmp_path):
    for place, name in enumerate(["ant", "bee", "cow", "dog"]):
        write(tmp_path / "animals" / name, seed=place)
    return tmp_path / "animals"


def test_a_folder_for_each_class(flat):
    stream = Stream.from_folder(flat, tasks=2)
    assert stream.class_names == ("ant", "bee", "cow", "dog")
    assert (stream.info.name, stream.info.input_shape) == ("animals", (3, 4, 6))
    assert [(task.train_count, task.test_count) for task in stream] == [(8, 2)] * 2
    arrived = {image.numpy().tobytes() for task in stream for x, _ in task.batches(3) for image in x}
    files = {np.asarray(Image.open(file)).transpose(2, 0, 1).tobytes() for file in flat.rglob("*.png")}
    assert arrived < files
    named = Stream.from_folder(str(flat), tasks=[["dog", "ant"], ["bee"]])
    assert named.class_names == ("dog", "ant", "bee")


def test_a_folder_for_each_task(tmp_path):
    for task in ("task 2", "task 10"):
        for name in "ab":
            write(tmp_path / task / name, seed=len(task))
    stream = Stream.from_folder(tmp_path)
    assert [task.info.name for task in stream] == ["task 2", "task 10"]
    assert stream.info.domain_incremental
    with pytest.raises(UsageError, match="do not give the tasks as well"):
        Stream.from_folder(tmp_path, tasks=2)


@pytest.mark.parametrize("testing", ["test", "val"])
def test_train_and_test_folders(flat, testing):
    shutil.copytree(flat, flat / "train")
    for name in ("ant", "bee", "cow", "dog"):
        (flat / name).rename(flat.parent / name)
        write(flat / testing / name, count=3, seed=99)
    stream = Stream.from_folder(flat, tasks=2)
    assert [(task.train_count, task.test_count) for task in stream] == [(10, 6)] * 2


def test_grey_images_among_colour_ones_are_converted(flat):
    grey = Image.open(flat / "bee" / "3.png").convert("L")
    grey.save(flat / "bee" / "3.png")
    stream = Stream.from_folder(flat, tasks=1, test_fraction=0.01)
    given = [image for x, _ in stream[0].batches(1) for image in x] + list(stream[0].test()[0])
    equal = [image for image in given if image[0].equal(image[1]) and image[0].equal(image[2])]
    assert [image[0].numpy().tolist() for image in equal] == [np.asarray(grey).tolist()]


def test_grey_images_alone_have_one_channel(tmp_path):
    for name in "ab":
        write(tmp_path / name, mode="L")
    assert Stream.from_folder(tmp_path, tasks=1).info.input_shape == (1, 4, 6)


def test_images_of_different_sizes_are_resized_if_asked(flat):
    write(flat / "cow", count=1, size=(9, 9))
    with pytest.raises(InputError, match=r"cow/0.png has 9 by 9 pixels but .*ant/0.png 6 by 4; .*--image-size"):
        Stream.from_folder(flat, tasks=2)
    assert Stream.from_folder(flat, tasks=2, image_size=8).info.input_shape == (3, 8, 8)


def test_content_is_what_counts_not_the_place(flat, tmp_path):
    before = Stream.from_folder(flat, tasks=2)
    moved = flat.rename(tmp_path / "elsewhere")
    after = Stream.from_folder(moved, tasks=2)
    assert (before.source, before.fingerprint) == (after.source, after.fingerprint)
    assert before.place != after.place
    Image.new("RGB", (6, 4)).save(moved / "ant" / "0.png")
    assert Stream.from_folder(moved, tasks=2).fingerprint != before.fingerprint


def damaged(folder):
    (folder / "bee" / "2.png").write_bytes((folder / "bee" / "2.png").read_bytes()[:60])


def no_image(folder):
    (folder / "bee" / "2.png").write_text("not an image")


def sixteen_bits(folder):
    Image.fromarray(np.full((4, 6), 40_000, dtype=np.uint16)).save(folder / "bee" / "2.png")


def one_left(folder):
    for number in range(1, 5):
        (folder / "cow" / f"{number}.png").unlink()


def stray(folder):
    shutil.copy(folder / "ant" / "0.png", folder / "0.png")


def only_one_class(folder):
    for name in ("bee", "cow", "dog"):
        shutil.rmtree(folder / name)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (damaged, r"bee/2\.png cannot be read as an image"),
        (no_image, r"bee/2\.png cannot be read as an image"),
        (sixteen_bits, r"bee/2\.png has more than 8 bits"),
        (one_left, "Class 'cow' has a single example"),
        (stray, r"animals/0\.png is in no folder of a class"),
        (only_one_class, "are of one class, 'ant'"),
        (lambda folder: (folder / "fox").mkdir(), "fox is empty"),
        (lambda folder: write(folder / "fox" / "red"), "give either class/image or task/class/image"),
        (lambda folder: write(folder / "ant" / "red"), "ant holds both images and folders"),
        (lambda folder: write(folder / "fox" / "red" / "big"), "big is a folder too deep"),
        (lambda folder: [shutil.rmtree(one) for one in folder.iterdir()], "holds no folders with images"),
        (lambda folder: shutil.rmtree(folder), "animals cannot be read"),
    ],
)
def test_bad_folders_are_named(flat, spoil, sentence):
    spoil(flat)
    with pytest.raises(InputError, match=sentence):
        Stream.from_folder(flat, tasks=1)


def test_an_empty_task_is_named(tmp_path):
    write(tmp_path / "one" / "a")
    write(tmp_path / "one" / "b")
    (tmp_path / "two").mkdir()
    with pytest.raises(InputError, match="two is empty"):
        Stream.from_folder(tmp_path)
