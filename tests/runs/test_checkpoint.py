"""Checkpoints: the last two are kept, a damaged one is passed over, one of another run is refused."""

import errno

import pytest
import torch

from merlin_cl.errors import MerlinError
from merlin_cl.runs import checkpoint
from merlin_cl.runs.checkpoint import Checkpoints


@pytest.fixture
def checkpoints(tmp_path):
    return Checkpoints(tmp_path, "abc")


def test_the_last_two_are_kept(checkpoints):
    assert checkpoints.latest() == (None, None, ())
    for done in range(1, 12):
        checkpoints.save(done, {"done": done})
    assert [path.name for path in checkpoints.paths()] == ["task-010.safetensors", "task-011.safetensors"]
    assert checkpoints.latest().state == {"done": 11}


@pytest.mark.parametrize("keep", [0, 5, 40, -1])
def test_the_one_before_a_damaged_one_serves(checkpoints, keep):
    checkpoints.save(1, {"w": torch.ones(3)})
    path = checkpoints.save(2, {"w": torch.zeros(3)})
    path.write_bytes(path.read_bytes()[:keep])
    latest = checkpoints.latest()
    assert torch.equal(latest.state["w"], torch.ones(3))
    assert [damaged.path for damaged in latest.damaged] == [path]
    assert latest.damaged[0].reason
    assert checkpoints.set_aside(path).is_file()
    assert checkpoints.latest().damaged == ()


def test_where_all_are_damaged_there_is_none(checkpoints):
    for done in (1, 2):
        checkpoints.save(done, {"done": done}).write_bytes(b"junk")
    latest = checkpoints.latest()
    assert (latest.state, latest.path) == (None, None)
    assert len(latest.damaged) == 2


def test_a_disk_that_fails_is_damage_and_a_closed_door_is_not(checkpoints, monkeypatch):
    checkpoints.save(1, {"done": 1})
    read = Checkpoints._read

    def failing(self, path):
        if path.name == "task-002.safetensors":
            raise OSError(code, "no")
        return read(self, path)

    checkpoints.save(2, {"done": 2})
    monkeypatch.setattr(checkpoint.Checkpoints, "_read", failing)
    code = errno.EIO
    assert checkpoints.latest().state == {"done": 1}
    code = errno.EACCES
    with pytest.raises(PermissionError):
        checkpoints.latest()


def test_a_checkpoint_of_other_settings_is_refused(checkpoints, tmp_path):
    checkpoints.save(1, {"done": 1})
    with pytest.raises(MerlinError, match=r"other settings.*delete it"):
        Checkpoints(tmp_path, "other").latest()
