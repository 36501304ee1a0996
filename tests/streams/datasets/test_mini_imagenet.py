"""Mini-ImageNet as image files and as pickles: the same classes, the usual division, damage named."""

import pickle

import pytest
import torch
from PIL import Image

from merlin_cl.errors import InputError
from merlin_cl.streams.class_lists import wordnet_ids
from merlin_cl.streams.datasets import open_data_set
from streams import official

CLASSES = [3, 40, 99]


def parts(folder):
    source = open_data_set("mini-imagenet", folder)
    return source.read("train"), source.read("test")


@pytest.fixture(params=["csv", "no csv", "folders", "pickles"])
def folder(request, tmp_path):
    if request.param == "pickles":
        official.write_mini_imagenet_pickles(tmp_path, CLASSES)
        return tmp_path
    place = official.write_mini_imagenet(tmp_path, CLASSES)
    if request.param != "csv":
        for table in place.glob("*.csv"):
            table.unlink()
    if request.param == "folders":
        for image in list((place / "images").iterdir()):
            own = place / image.name[:9]
            own.mkdir(exist_ok=True)
            image.rename(own / image.name[9:])
        (place / "images").rmdir()
    return tmp_path


def test_the_last_sixth_of_each_class_is_for_testing(folder):
    train, test = parts(folder)
    assert torch.bincount(train.labels, minlength=100)[CLASSES].tolist() == [10, 10, 10]
    assert torch.bincount(test.labels, minlength=100)[CLASSES].tolist() == [2, 2, 2]
    x = torch.cat([train.images(torch.arange(30), (3, 12, 12)), test.images(torch.arange(6), (3, 12, 12))])
    assert len({image.numpy().tobytes() for image in x}) == 36  # all different: no image in both parts


def test_pickled_images_come_out_as_they_were_put_in(tmp_path):
    official.write_mini_imagenet_pickles(tmp_path, CLASSES)
    train, test = parts(tmp_path)
    second = official.noise(12, 84, 84, 3, seed=1)  # the pickle of the second class, 40
    at = (train.labels == 40).nonzero().squeeze(1)
    assert (train.images(at, (3, 84, 84)).permute(0, 2, 3, 1).numpy() == second[:10]).all()
    at = (test.labels == 40).nonzero().squeeze(1)
    assert (test.images(at.flip(0), (3, 84, 84)).permute(0, 2, 3, 1).numpy() == second[[11, 10]]).all()


def test_parts_csv_decides_where_there_is_one(tmp_path):
    place = official.write_mini_imagenet(tmp_path, [7])
    names = sorted(file.name for file in (place / "images").iterdir())
    rows = [(name, name[:9], 1, "test" if number % 2 else "train") for number, name in enumerate(names[:8])]
    official.write_csv(place / "parts.csv", ("filename", "label", "task", "part"), rows)
    train, test = parts(tmp_path)
    assert [file.name for file in train.files] == names[0:8:2]
    assert [file.name for file in test.files] == names[1:8:2]


def test_grey_images_among_colour_ones_are_converted(tmp_path):
    place = official.write_mini_imagenet(tmp_path, [7])
    file = place / "images" / f"{wordnet_ids()[7]}00000000.jpg"
    Image.fromarray(official.noise(12, 12)).save(file)
    image = parts(tmp_path)[0].images(torch.tensor([0]), (3, 12, 12))[0]
    assert image[0].equal(image[1])


def test_a_listed_image_that_is_not_there_is_named(tmp_path):
    place = official.write_mini_imagenet(tmp_path, [7])
    lost = place / "images" / f"{wordnet_ids()[7]}00000003.jpg"
    lost.unlink()
    with pytest.raises(InputError, match=rf"train\.csv lists {lost.name}, which is not in"):
        parts(tmp_path)


def test_tables_that_are_not_what_they_should_be_are_named(tmp_path):
    place = official.write_mini_imagenet(tmp_path, [7])
    (place / "val.csv").write_text("file,class\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"val\.csv lacks the column 'filename'"):
        parts(tmp_path)
    name = f"{wordnet_ids()[7]}00000000.jpg"
    (place / "val.csv").write_text(f"filename,label\n{name},n00000000\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"val\.csv has the class 'n00000000', which is not one of"):
        parts(tmp_path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"image_data": official.noise(2, 8, 8), "class_dict": {}}, "holds no 'image_data' of colour images"),
        ({"class_dict": {}}, "holds no 'image_data'"),
        (
            {"image_data": official.noise(2, 8, 8, 3), "class_dict": {"n01532829": [0, 5]}},
            "rows that are not among its 2 images",
        ),
        ({"image_data": official.noise(2, 8, 8, 3), "class_dict": {"n01532829": 3}}, "rows that are not among"),
        ({"image_data": official.noise(2, 8, 8, 3), "class_dict": {"n01532829": "abc"}}, "rows that are not among"),
        ({"image_data": official.noise(2, 8, 8, 3), "class_dict": {"n01532829": [0, "1"]}}, "rows that are not among"),
        (
            {"image_data": official.noise(2, 8, 8, 3), "class_dict": {"n01532829": [[0], [1, [1]]]}},
            "rows that are not among",
        ),
        ({"image_data": official.noise(2, 8, 8, 3), "class_dict": {"n01532829": [-1]}}, "rows that are not among"),
        ({"image_data": official.noise(2, 8, 8, 3), "class_dict": {"n01532829": [True]}}, "rows that are not among"),
        ({"image_data": official.noise(2, 8, 8, 3), "class_dict": {}}, "holds no 'image_data'"),
        ({"image_data": official.noise(9, 0, 8, 3), "class_dict": {"n01532829": [0]}}, "holds no 'image_data'"),
        ({"image_data": [[1]], "class_dict": {"n01532829": [0]}}, "holds no 'image_data'"),
        ({"image_data": official.noise(2, 8, 8, 3), "class_dict": {"n00000001": [0]}}, "class 'n00000001'"),
    ],
)
def test_pickles_that_are_not_what_they_should_be_are_named(tmp_path, content, sentence):
    (tmp_path / "mini-imagenet-cache-val.pkl").write_bytes(pickle.dumps(content))
    with pytest.raises(InputError, match=rf"cache-val\.pkl.*{sentence}"):
        parts(tmp_path)
