"""A state comes back as it was; a file that is not one is refused before anything is read; writing is whole or not at all."""

import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from merlin_cl import statefile
from merlin_cl.errors import MerlinError
from merlin_cl.statefile import (
    TENSOR,
    DamagedError,
    clear_leftovers,
    decode,
    encode,
    open_regular,
    opened,
    write_whole,
)

tensors = st.sampled_from(
    [
        torch.arange(6.0).reshape(2, 3),
        torch.arange(6.0).reshape(2, 3).T,  # not contiguous
        torch.tensor(3),
        torch.empty(0, 4),
        torch.tensor([True, False]),
        torch.tensor([0.5, math.inf], dtype=torch.bfloat16),
        torch.Generator().manual_seed(3).get_state(),
    ]
)
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
keys = st.text(max_size=4) | st.sampled_from(["a", "a/b", "b", "0"]) | st.integers(-3, 3)
states = st.dictionaries(
    keys,
    st.recursive(
        plain | tensors,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


def same(left, right):
    if isinstance(left, torch.Tensor):
        return isinstance(right, torch.Tensor) and left.dtype == right.dtype and torch.equal(left, right)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


@settings(deadline=None)
@given(states)
def test_states_come_back_as_they_were(state):
    restored, labels = decode(encode(state, {"run": "abc"}))
    assert same(state, restored)
    assert labels == {"run": "abc"}


def test_views_of_one_storage_are_kept_apart():
    weights = torch.arange(10.0)
    restored, _ = decode(encode({"all": weights, "some": weights[2:4]}, {}))
    restored["all"].zero_()
    assert restored["some"].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    "state", [{True: 2}, {1.5: 2}, {"a": {"$tensor": "b"}}, {"$numbered": []}, {"a": {3, 4}}, {"a": object()}]
)
def test_what_cannot_be_kept_is_refused_at_once(state):
    with pytest.raises(TypeError):
        encode(state, {})


def test_the_state_of_an_optimiser_of_torch_comes_back():
    layer = torch.nn.Linear(3, 2)
    optimiser, again = (torch.optim.Adam(layer.parameters(), lr=0.1) for _ in range(2))
    layer(torch.ones(1, 3)).sum().backward()
    optimiser.step()
    state, _ = decode(encode({"optimiser": optimiser.state_dict(), "recent": [torch.ones(2), torch.zeros(3)]}, {}))
    again.load_state_dict(state["optimiser"])
    for one, other in zip(optimiser.state.values(), again.state.values(), strict=True):
        assert same(one, other)
    assert [value.tolist() for value in state["recent"]] == [[1, 1], [0, 0, 0]]


def test_every_damaged_byte_is_noticed():
    """Flip one bit anywhere: either the state is unharmed (padding) or decoding refuses."""
    state = {"w": torch.arange(4.0), "n": 3}
    content = encode(state, {"run": "abc"})
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1
        try:
            restored, labels = decode(bytes(damaged))
        except Exception:
            continue
        assert same(state, restored)
        assert labels == {"run": "abc"}


# Files that are none of ours: the header is compared with the file before anything is read


def with_header(header, data=b""):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def tensor(kind="F32", shape=(2,), start=0, stop=8):
    return {"dtype": kind, "shape": list(shape), "data_offsets": [start, stop]}


OURS = {"state": '{"a": {"$tensor": "a"}}', "checksum": ""}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 7,
        b"\xff" * 4000,
        (2**63).to_bytes(8, "little") + b"{}",
        with_header([]),
        with_header({"a": tensor()}, b"\0" * 8),
        with_header({"__metadata__": {"state": 3}}),
        with_header({"__metadata__": OURS, "a": tensor(shape=(2**40,), stop=2**42)}, b"\0" * 8),
        with_header({"__metadata__": OURS, "a": tensor(shape=(2, 2))}, b"\0" * 8),
        with_header({"__metadata__": OURS, "a": tensor(shape=(2**32, 2**32), stop=0)}),
        with_header({"__metadata__": OURS, "a": tensor(shape=(-1, -2))}, b"\0" * 8),
        with_header({"__metadata__": OURS, "a": tensor(shape=(True, 2))}, b"\0" * 8),
        with_header({"__metadata__": OURS, "a": tensor(kind="F128")}, b"\0" * 8),
        with_header({"__metadata__": OURS, "a": tensor(shape=[1] * 70 + [2])}, b"\0" * 8),
        with_header({"__metadata__": OURS, "a": tensor(start=4, stop=12)}, b"\0" * 12),
        with_header({"__metadata__": OURS, "a": tensor(), "b": tensor()}, b"\0" * 8),
        with_header({"__metadata__": OURS, "a": tensor()}, b"\0" * 9),
        with_header({"__metadata__": OURS, "a": tensor()}, b"\0" * 7),
        with_header({"__metadata__": OURS, "a": 7}),
        b"\x10\0\0\0\0\0\0\0" + b"[" * 16,
        with_header({"__metadata__": {"state": "[" * 100_000}}),
    ],
)
def test_a_header_that_does_not_speak_of_its_file_is_refused(content):
    with pytest.raises(DamagedError):
        decode(content)


def forged(state, tensors, labels=None):
    """A file with the right checksum, whatever is in it."""
    plain, labels = json.dumps(state), labels or {}
    checksum = statefile._checksum(plain, labels, tensors)
    return save(tensors, {"state": plain, "checksum": checksum, **labels})


@pytest.mark.parametrize(
    "state",
    [
        {"a": {"$tensor": "a"}, "b": {"$tensor": "a"}},  # one tensor in two places would be copied for each
        {"a": {"$tensor": "b"}},
        {"a": {"$tensor": ["a"]}},
        {"a": {"$tensor": "a", "more": 1}},
        {"a": 1},
        [{"$tensor": "a"}],
    ],
)
def test_marks_that_are_not_those_of_the_tensors_are_refused(state):
    assert torch.equal(decode(forged({"a": {"$tensor": "a"}}, {"a": torch.ones(2)}))[0]["a"], torch.ones(2))
    with pytest.raises(DamagedError, match="not those of its state"):
        decode(forged(state, {"a": torch.ones(2)}))


@pytest.mark.parametrize(
    "mark",
    [
        {"$numbered": 3},
        {"$numbered": [[1]]},
        {"$numbered": [[1, 2], [1, 3]]},
        {"$numbered": [], "a": 1},
        {"$numbered": [[1.5, 2]]},
    ],
)
def test_marks_of_numbered_values_that_are_none_are_refused(mark):
    assert decode(forged({"a": {"$numbered": [[1, 2], ["b", 3]]}}, {}))[0] == {"a": {1: 2, "b": 3}}
    with pytest.raises(DamagedError, match="numbered"):
        decode(forged({"a": mark}, {}))


def test_a_truth_value_is_true_or_false():
    with pytest.raises(DamagedError, match="neither true nor false"):
        decode(forged({"a": {"$tensor": "a"}}, {"a": torch.tensor([0, 1, 2], dtype=torch.uint8).view(torch.bool)}))


def test_a_header_is_read_without_its_tensors(tmp_path):
    path = tmp_path / "state"
    path.write_bytes(encode({"n": 3, "w": torch.arange(6).view(2, 3)}, {"kind": "mine"}))
    with opened(path) as file:
        assert file.labels == {"kind": "mine"}
        assert file.marked["n"] == 3
        np.testing.assert_array_equal(file.array(file.marked["w"][TENSOR]), [[0, 1, 2], [3, 4, 5]])


def test_only_a_file_is_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "pipe", "a pipe"), (tmp_path, "a folder"), (Path("/dev/zero"), "a device")):
        with pytest.raises(MerlinError, match=f"is {kind}; give the path of a file"), opened(path):
            pass
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nothing")


# Writing: whole or not at all, whoever else writes


@pytest.mark.parametrize("moment", ["write", "fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, moment):
    path = tmp_path / "file"
    write_whole(path, b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    if moment == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    elif moment == "replace":
        monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(TypeError if moment == "write" else OSError) as caught:
        write_whole(path, None if moment == "write" else b"new")
    monkeypatch.undo()
    if moment != "write":
        assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_long_name_is_no_obstacle(tmp_path):
    path = tmp_path / ("ü" * 120)
    write_whole(path, b"content")
    assert path.read_bytes() == b"content"


def test_what_the_dead_left_goes_and_what_the_living_write_stays(tmp_path):
    path = tmp_path / "file"
    _, being_written = statefile._begun(path)
    dead = [tmp_path / f".file.{'0123456789abcdef'}.part", tmp_path / ".file.part"]
    others = [tmp_path / f".other.{'0' * 16}.part", tmp_path / ".file.my notes.part"]
    for left in (*dead, *others):
        left.write_bytes(b"half")
    with being_written:
        write_whole(path, b"content")
        assert len(list(tmp_path.glob(".file.*"))) == 2
    assert not any(left.exists() for left in dead)
    assert all(left.exists() for left in others)
    clear_leftovers(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


SAVER = """
import sys
from pathlib import Path
from merlin_cl.statefile import write_whole
for number in range(int(sys.argv[2])):
    write_whole(Path(sys.argv[1]), bytes([int(sys.argv[3])]) * 100_000)
"""


def test_two_processes_write_the_same_file_and_readers_see_whole_ones(tmp_path):
    path = tmp_path / "file"
    write_whole(path, b"\1" * 100_000)
    savers = [subprocess.Popen([sys.executable, "-c", SAVER, path, "100", str(number)]) for number in (2, 3)]
    reads = 0
    while any(saver.poll() is None for saver in savers) or not reads:
        content = path.read_bytes()
        assert len(content) == 100_000
        assert len(set(content)) == 1
        reads += 1
    assert [saver.wait() for saver in savers] == [0, 0]
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_threads_write_the_same_file(tmp_path):
    path = tmp_path / "file"
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(write_whole, path, bytes([number]) * 1000) for number in range(100)]:
            done.result()
    assert len(set(path.read_bytes())) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
