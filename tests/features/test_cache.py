"""Features that were computed once are not computed again, whoever asks and in whatever order; the disk is never trusted."""

import numpy as np
import pytest
import torch

from merlin_cl.errors import UsageError
from merlin_cl.features import Features
from merlin_cl.features.cache import FEWEST

X = np.random.default_rng(0).normal(size=(2 * FEWEST, 4)).astype(np.float32)


class Counting:
    """Doubles its inputs and counts them, without a word of that to its checksum."""

    counted = 0

    def __call__(self, x):
        Counting.counted += len(x)
        return 2 * x


@pytest.fixture(autouse=True)
def from_zero(monkeypatch):
    monkeypatch.setattr(Counting, "counted", 0)


def test_the_same_inputs_are_computed_once_by_whatever_object():
    first = Features(Counting())(X)
    again = Features(Counting())(X[torch.randperm(len(X)).numpy()][: FEWEST + 3])
    assert Counting.counted == len(X)
    torch.testing.assert_close(Features(Counting())(X), first)
    assert again.shape == (FEWEST + 3, 4)


def test_only_what_is_new_is_computed():
    features = Features(Counting())
    features(X[:FEWEST])
    torch.testing.assert_close(features(X), torch.tensor(2 * X))
    assert Counting.counted == len(X)
    repeated = np.repeat(X[:2] + 9, FEWEST, axis=0)
    features(repeated)
    assert Counting.counted == len(X) + 2


def test_inputs_of_another_shape_or_type_are_others():
    features = Features(lambda x: x.reshape(len(x), -1)[:, :2].astype(float))
    bytes_ = np.arange(4 * FEWEST, dtype=np.uint8).reshape(FEWEST, 4)
    assert features(bytes_).tolist() == bytes_[:, :2].tolist()
    assert features(bytes_.reshape(FEWEST, 2, 2)).tolist() == bytes_[:, :2].tolist()
    assert features(bytes_.astype(np.float32)).tolist() == bytes_[:, :2].tolist()


def test_few_inputs_leave_nothing_on_disk(features_folder):
    Features(Counting())(X[: FEWEST - 1])
    assert not features_folder.exists()


def test_a_cache_can_be_somewhere_else_or_nowhere(tmp_path, features_folder):
    Features(Counting(), cache=False)(X)
    assert not features_folder.exists()
    Features(Counting(), cache=tmp_path / "elsewhere")(X)
    assert len(list((tmp_path / "elsewhere").glob("*/*.safetensors"))) == 1


def test_a_damaged_file_is_as_good_as_none(features_folder):
    Features(Counting())(X)
    (file,) = features_folder.glob("*/*.safetensors")
    content = bytearray(file.read_bytes())
    content[-7] ^= 1
    file.write_bytes(content)
    torch.testing.assert_close(Features(Counting())(X), torch.tensor(2 * X))
    assert Counting.counted == 2 * len(X)
    file.write_bytes(b"nothing of ours")
    torch.testing.assert_close(Features(Counting())(X), torch.tensor(2 * X))


def test_what_was_used_longest_ago_makes_room(features_folder, monkeypatch):
    Features(Counting())(X)
    (old,) = features_folder.glob("*/*.safetensors")
    monkeypatch.setenv("MERLIN_FEATURES_BYTES", str(old.stat().st_size + 100))
    Features(Counting())(X + 1)
    (new,) = features_folder.glob("*/*.safetensors")
    assert new != old


@pytest.mark.parametrize("room", ["0", "100"])
def test_where_there_is_no_room_nothing_is_kept(features_folder, monkeypatch, room):
    monkeypatch.setenv("MERLIN_FEATURES_BYTES", room)
    torch.testing.assert_close(Features(Counting())(X), torch.tensor(2 * X))
    assert list(features_folder.rglob("*.safetensors")) == []


def test_bad_room_is_named(monkeypatch):
    monkeypatch.setenv("MERLIN_FEATURES_BYTES", "4 GB")
    with pytest.raises(UsageError, match="MERLIN_FEATURES_BYTES is '4 GB'; give a whole number of bytes"):
        Features(Counting())(X)


def test_a_disk_that_takes_nothing_is_said_and_no_reason_to_stop(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MERLIN_FEATURES", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="Features cannot be kept in"):
        features = Features(Counting())(X)
    torch.testing.assert_close(features, torch.tensor(2 * X))
