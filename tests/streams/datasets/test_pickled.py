"""Pickles give back the numbers in them, and never run what else they hold."""

import os
import pickle
import subprocess
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from merlin_cl.errors import InputError
from merlin_cl.streams.datasets.pickled import read_pickle
from streams import official

KINDS = st.sampled_from(["u1", "i1", "<i2", ">i4", "i8", "<f4", ">f8", "u4"])


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("pickles") / "value.pkl"


@settings(deadline=None, max_examples=60)
@given(
    array=KINDS.flatmap(lambda kind: arrays.arrays(kind, arrays.array_shapes(max_dims=4, max_side=4))),
    protocol=st.integers(0, pickle.HIGHEST_PROTOCOL),
    by_columns=st.booleans(),
)
def test_arrays_are_read_whatever_the_protocol(file, array, protocol, by_columns):
    if by_columns:
        array = np.asfortranarray(array)
    file.write_bytes(pickle.dumps({"data": array, "more": [1, ("two", 3.0)]}, protocol))
    read = read_pickle(file)
    assert read["data"].dtype == array.dtype
    assert read["data"].tobytes() == array.tobytes()
    assert read["data"].shape == array.shape
    assert read["more"] == [1, ("two", 3.0)]


def test_python_2_pickles_are_read(file):
    rows = official.noise(3, 3072)
    file.write_bytes(official.python2_pickle(rows, "labels", [5, 0, 9]))
    read = read_pickle(file)
    assert (read["data"] == rows).all()
    assert read["labels"] == [5, 0, 9]


def test_ordinary_containers_are_read(file):
    value = OrderedDict(a=[1, 2], b={"c": (None, True, 2.5)})
    file.write_bytes(pickle.dumps(value))
    assert read_pickle(file) == {"a": [1, 2], "b": {"c": (None, True, 2.5)}}


class Calls:
    """What a malicious pickle does: names something to call."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
@pytest.mark.parametrize("nested", [False, True])
def test_malicious_pickle_is_refused_and_nothing_is_run(tmp_path, protocol, nested):
    harmed = tmp_path / "harmed"
    calls = [
        Calls(os.system, f"touch {harmed}"),
        Calls(subprocess.Popen, ["touch", str(harmed)]),
        Calls(eval, f"open({str(harmed)!r}, 'w')"),
        Calls(Path.touch, harmed),
        Calls(np.ndarray.tofile, np.zeros(3), str(harmed)),
        Calls(getattr, "text", "__class__"),
    ]
    for call in calls:
        value = {"data": np.zeros(3, np.uint8), "labels": [call]} if nested else call
        (tmp_path / "evil.pkl").write_bytes(pickle.dumps(value, protocol))
        with pytest.raises(InputError, match=r"evil.pkl wants to load .*nothing of it was run"):
            read_pickle(tmp_path / "evil.pkl")
    assert not harmed.exists()


def test_arrays_of_objects_are_refused(file):
    for array in (np.array([{}, None], dtype=object), np.array(["text"]), np.zeros(2, [("a", "i4")])):
        file.write_bytes(pickle.dumps(array))
        with pytest.raises(InputError, match=r"value\.pkl holds an array"):
            read_pickle(file)


def test_other_encodings_are_refused(file):
    """_codecs.encode is how bytes are pickled, but its second argument could name any codec."""
    file.write_bytes(b"c_codecs\nencode\n(Vtext\nVrot13\ntR.")
    with pytest.raises(InputError, match="encoding 'rot13'"):
        read_pickle(file)


@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_a_cut_pickle_is_damaged(file, data):
    whole = official.python2_pickle(official.noise(2, 3072), "labels", [1, 2])
    file.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(InputError, match=r"value.pkl is damaged or no pickle .*fetch it again"):
        read_pickle(file)


def test_what_is_no_pickle_is_named(tmp_path):
    (tmp_path / "page.pkl").write_bytes(b"<html>404</html>")
    with pytest.raises(InputError, match=r"page\.pkl is damaged or no pickle"):
        read_pickle(tmp_path / "page.pkl")
    with pytest.raises(InputError, match=r"lost\.pkl cannot be read"):
        read_pickle(tmp_path / "lost.pkl")
