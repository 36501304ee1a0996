"""Exemplars as pictures."""

import base64
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from merlin_cl.report.page.checkpoint_reader import opened
from merlin_cl.report.page.gallery import OF_A_CLASS, data_uri, gallery, is_picture, picture

from ..made import make_run


def pixels(uri):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.removeprefix("data:image/png;base64,")))))


@given(arrays(np.uint8, st.sampled_from([(1, 28, 28), (3, 32, 32), (1, 8, 48)])))
def test_small_pictures_of_bytes_are_kept_as_they_are(x):
    shown = pixels(data_uri(picture(x)))
    assert np.array_equal(shown, x[0] if len(x) == 1 else x.transpose(1, 2, 0))


@given(arrays(np.float32, (1, 8, 8), elements=st.floats(-100, 100, width=32)))
def test_other_numbers_are_stretched_from_black_to_white(x):
    shown = pixels(data_uri(picture(x)))
    assert shown.min() == 0
    assert shown.max() == (255 if x.max() > x.min() else 0)


def test_large_pictures_are_made_smaller():
    assert picture(np.zeros((3, 84, 84), np.uint8)).size == (48, 48)


@pytest.mark.parametrize("shape", [(784,), (1, 4), (2, 28, 28), (1, 4, 4), (3, 1000, 28)])
def test_what_cannot_be_looked_at_is_no_picture(shape):
    assert not is_picture(shape)


def test_every_class_of_every_task_is_there(tmp_path):
    folder = make_run(tmp_path)
    with opened(next((folder / "checkpoint").iterdir())) as kept:
        shown = gallery(kept)
        x = kept.array("memory", "x")
    assert shown["count"] == 24
    names = [[group["name"] for group in task["classes"]] for task in shown["tasks"]]
    assert names == [["0", "1"], ["2", "3"], ["4", "5"]]
    assert all(len(group["pictures"]) == 4 <= OF_A_CLASS for task in shown["tasks"] for group in task["classes"])
    assert np.array_equal(pixels(shown["tasks"][0]["classes"][0]["pictures"][0]), x[0, 0])
