"""Every method trains the ResNet on images of bytes, whose batch statistics must survive saving, averaging and copying."""

import pytest
import torch

from merlin_cl.learners.registry import method_names, method_settings
from merlin_cl.protocol import StreamInfo, TaskInfo

STREAM = StreamInfo("images", (3, 8, 8), 4, 2)
SPECIAL = {
    "gss": {"selection": "integer", "exemplars": 8, "recent": 3},
    "slda": {"features": "learned"},
    "joint": {"epochs": 2},
    "cn-dpm": {"exemplars": 8, "epochs": 2},
    "ewc": {"exemplars": 5},
    "mir": {"candidates": 12},
    "merlin-paper": {"base_models": 3, "models": 3, "fine_tune_epochs": 5, "vae_epochs": 3},
}


@pytest.mark.parametrize("method", sorted(set(method_names()) - {"merlin", "gdumb-ensemble"}))
def test_a_resnet_learns_from_bytes_and_resumes(method):
    settings = method_settings(method)(network="resnet", **SPECIAL.get(method, {}))
    learner, generator = settings.build(STREAM, seed=0), torch.Generator().manual_seed(0)
    for task in range(2):
        learner.begin(TaskInfo(task, (2 * task, 2 * task + 1)))
        for size in (6, 5, 1):
            x = torch.randint(0, 256, (size, 3, 8, 8), generator=generator, dtype=torch.uint8)
            learner.observe(x, torch.randint(0, 2, (size,), generator=generator) + 2 * task)
        learner.end()
    x = torch.randint(0, 256, (9, 3, 8, 8), generator=generator, dtype=torch.uint8)
    resumed = settings.build(STREAM, seed=0)
    resumed.restore(learner.state())
    assert torch.isfinite(learner.logits(x)).all()
    assert torch.equal(learner.logits(x), resumed.logits(x))
