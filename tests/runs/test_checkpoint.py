import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from merlin_cl.errors import MerlinError
from merlin_cl.runs.checkpoint import Checkpoints, decode, encode

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
states = st.dictionaries(
    st.text(max_size=4),
    st.recursive(
        plain | tensors,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
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


@pytest.mark.parametrize("state", [{1: 2}, {"a": {"$tensor": "b"}}, {"a": {3, 4}}, {"a": object()}])
def test_what_cannot_be_kept_is_refused_at_once(state):
    with pytest.raises(TypeError):
        encode(state, {})


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


@pytest.fixture
def checkpoints(tmp_path):
    return Checkpoints(tmp_path, "abc")


def test_the_last_two_are_kept(checkpoints):
    assert checkpoints.latest() is None
    for done in range(1, 12):
        checkpoints.save(done, {"done": done})
    assert [path.name for path in checkpoints.paths()] == ["task-010.safetensors", "task-011.safetensors"]
    assert checkpoints.latest() == {"done": 11}


@pytest.mark.parametrize("keep", [0, 5, 40, -1])
def test_a_truncated_checkpoint_is_named_with_its_remedy(checkpoints, keep):
    checkpoints.save(1, {"w": torch.ones(3)})
    path = checkpoints.save(2, {"w": torch.zeros(3)})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(MerlinError, match=r"task-002\.safetensors is damaged.*delete that file.*before it") as caught:
        checkpoints.latest()
    assert caught.value.exit_code == 1
    path.unlink()
    assert torch.equal(checkpoints.latest()["w"], torch.ones(3))


def test_a_checkpoint_of_other_settings_is_refused(checkpoints, tmp_path):
    checkpoints.save(1, {"done": 1})
    with pytest.raises(MerlinError, match=r"other settings.*from the start"):
        Checkpoints(tmp_path, "other").latest()
