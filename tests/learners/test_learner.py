"""The door of every learner: probabilities, and a file from which learning goes on."""

import pytest
import torch

from merlin_cl import Learner, StreamInfo, TaskInfo, load
from merlin_cl.errors import UsageError
from merlin_cl.learners.lookup.settings import LookupSettings
from merlin_cl.learners.rivals.er import ER
from merlin_cl.learners.rivals.er_settings import ERSettings
from merlin_cl.learners.rivals.single import Single
from merlin_cl.learners.rivals.single_settings import SingleSettings

STREAM = StreamInfo("small", (4,), classes=5, tasks=2)
SMALL = ERSettings(hidden_units=(6,), exemplars=6, replay=3, updates_per_batch=2)


def examples(*classes, dtype=torch.float32):
    y = torch.tensor(classes).repeat(6)
    x = torch.eye(5)[y, :4] + 0.1 * torch.rand(len(y), 4, generator=torch.Generator().manual_seed(0))
    return (50 * x).to(dtype) if dtype == torch.uint8 else x, y


def taught(settings=SMALL, dtype=torch.float32):
    learner = settings.build(STREAM, seed=1)
    learner.begin(TaskInfo(0, (0, 1)))
    learner.observe(*examples(0, 1, dtype=dtype))
    return learner


def test_probabilities_are_those_of_the_classes_seen():
    learner = taught()
    probabilities = learner.probabilities(examples(0, 1)[0])
    assert probabilities.dtype == torch.float64
    assert torch.allclose(probabilities.sum(dim=1), torch.ones(12, dtype=torch.float64))
    assert (probabilities[:, 2:] == 0).all()


def test_a_known_task_is_answered_for_among_its_own_classes():
    settings = LookupSettings(hidden_units=(6,), exemplars=6, models=1, updates_per_batch=2, fine_tune_epochs=1)
    learner = taught(settings)
    learner.end()
    learner.begin(TaskInfo(1, (2, 3)))
    learner.observe(*examples(2, 3))
    learner.end()
    assert learner.inference_for(0, "aggregate") == "aware"
    assert learner.inference_for(None, "aggregate") == "aggregate"
    assert (learner.probabilities(examples(0)[0], task=0)[:, 2:] == 0).all()
    with pytest.raises(UsageError, match="Task 2 has not been seen"):
        learner.probabilities(examples(0)[0], task=2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
def test_a_learner_from_a_file_goes_on_as_if_it_had_never_been_saved(tmp_path, dtype):
    learner = taught(dtype=dtype)
    again = ER.load(learner.save(tmp_path / "learner"))
    assert again.takes_bytes == learner.takes_bytes == (dtype == torch.uint8)
    for one in (learner, again):
        one.observe(*examples(0, 1, dtype=dtype))
        one.end()
    x, _ = examples(0, 1, dtype=dtype)
    assert torch.equal(learner.logits(x), again.logits(x))


def test_any_learner_is_loaded_by_the_base_class_and_no_other_by_its_own(tmp_path):
    path = taught(SingleSettings(hidden_units=(6,))).save(tmp_path / "learner")
    assert isinstance(Learner.load(path), Single)
    with pytest.raises(UsageError, match=r"holds a learner of the method single; use Learner\.load\.$"):
        ER.load(path)


def test_a_learner_in_a_file_can_be_had_as_an_estimator(tmp_path):
    learner = taught()
    x, _ = examples(0, 1)
    model = load(learner.save(tmp_path / "learner"))
    assert torch.equal(
        torch.from_numpy(model.predict_proba(x.numpy())), learner.probabilities(x)[:, : len(model.classes_)]
    )
