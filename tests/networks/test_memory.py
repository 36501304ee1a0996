"""Keeping freed memory: only where the C library can, and never against the user's own setting."""

import pytest
import torch

from merlin_cl.networks.bank import Bank
from merlin_cl.networks.memory import keep_freed_memory
from merlin_cl.networks.resnet import ResNet


@pytest.mark.parametrize("name", ["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"])
def test_a_setting_of_the_users_is_left_alone(name, monkeypatch):
    monkeypatch.setenv(name, "1")
    assert not keep_freed_memory.__wrapped__()


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    assert not keep_freed_memory.__wrapped__()


def test_steps_no_longer_fault_memory_in():
    resource = pytest.importorskip("resource")
    if not keep_freed_memory():
        pytest.skip("no glibc, or the user has settings")
    network = ResNet((3, 32, 32), 10)
    bank = Bank(network, network.initial(10, torch.Generator().manual_seed(0)))
    x = torch.rand(20, 3, 32, 32)
    for _ in range(3):
        bank.logits(x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(3):
        bank.logits(x)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert faults < 2000  # about 8,000 without: an activation of the first stage is 1,000 pages
