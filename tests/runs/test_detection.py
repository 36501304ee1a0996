"""Whether a learner tells inputs of another kind from its own: with members and without, told the task or not."""

import pytest
import torch

from merlin_cl.errors import InputError
from merlin_cl.learners.uncertainty import Members
from merlin_cl.protocol import StreamInfo, TaskInfo
from merlin_cl.runs.detection import INPUTS, detection
from merlin_cl.runs.evaluate import questions
from merlin_cl.streams.stream import Pool, Selection, Stream, Task
from merlin_cl.tensors import MASKED

from . import fakes


class Wary(fakes.Quiet):
    """Sure of the first class allowed where the first number is 0, and at a loss where it is 1; remembers what it was asked."""

    inferences = ("marginal", "aware")

    def _answers(self, x, allowed, task, inference):
        self.asked.append((x, task))
        scores = torch.zeros(len(allowed), len(x), self.stream.classes).masked_fill(~allowed[:, None, :], MASKED)
        first = allowed.int().argmax(dim=1)
        scores[torch.arange(len(allowed)), :, first] = 9 * (1 - x[:, 0].float()).expand(len(allowed), -1)
        return scores


class Together(Wary):
    """Two members that agree where the second number is 0, and contradict each other where it is 1."""

    def _members(self, x, task, inference):
        self.asked.append((x, task))
        one = torch.zeros(len(x), self.stream.classes)
        one[:, 0] = 1
        other = one.clone()
        other[x[:, 1] > 0.5] = one.flip(1)[x[:, 1] > 0.5]
        return Members(torch.stack([one, other]), torch.full((len(x), 2), 0.5))


def inputs(first, second, count):
    return torch.tensor([[first, second]], dtype=torch.float32).repeat(count, 1)


def made_stream(other, count=5, transform=None):
    """Two tasks of test inputs (0, 0)."""
    tasks = []
    for index in range(2):
        classes = (2 * index, 2 * index + 1)
        chosen = Selection(Pool(inputs(0, 0, count), torch.full((count,), classes[0])), torch.arange(count), transform)
        tasks.append(Task(TaskInfo(index, classes), chosen, chosen, torch.Generator()))
    return Stream(StreamInfo("made", (2,), 4, 2), tasks, other=other)


def found_by(kind, stream, say=print):
    learner = kind(stream.info, fakes.QuietSettings(), 0)
    learner.asked = []
    learner.tasks = [task.info for task in stream]
    records = detection(learner, stream, questions(learner, stream.info, "all"), say)
    return learner, {(question.view, question.inference): kinds for question, kinds in records.items()}


UNSURE = {"unsure": lambda count: inputs(1, 0, 6), "contradicted": lambda count: inputs(0, 1, 6)}


def test_without_members_there_is_the_entropy_of_the_answer():
    _, records = found_by(Wary, made_stream(UNSURE))
    expected = {"unsure": {"total": 100.0}, "contradicted": {"total": 50.0}}
    # Told nothing, it chooses among all classes; told the task, among its own. Any other mask would tell it the task as well.
    assert records == {("class-incremental", "marginal"): expected, ("task-masked", "aware"): expected}


def test_with_members_there_is_what_they_disagree_on():
    _, records = found_by(Together, made_stream(UNSURE))
    kinds = records["class-incremental", "marginal"]
    assert kinds["contradicted"] == {"total": 100.0, "epistemic": 100.0}
    assert kinds["unsure"] == {"total": 50.0, "epistemic": 50.0}


@pytest.mark.parametrize("kind", [Wary, Together])
def test_inputs_of_another_kind_are_divided_among_the_tasks(kind):
    many = {"many": lambda count: inputs(1, 1, count)}
    learner, _ = found_by(kind, made_stream(many, count=3 * INPUTS))
    sizes = [(len(x), task) for x, task in learner.asked if task is not None]
    # Blocks of at most a thousand: half of all inputs for each task, first the stream's own, then the others.
    assert sizes == [(INPUTS // 2, 0), (INPUTS // 2, 1)] * 2


def test_a_task_shows_them_as_it_shows_its_own():
    stream = made_stream({"dark": lambda count: inputs(0, 0, 6)}, transform=lambda x: 1 - x)
    learner, records = found_by(Wary, stream)
    assert all((x == 1).all() for x, _ in learner.asked)
    assert records["task-masked", "aware"] == {"dark": {"total": 50.0}}


def test_fewer_inputs_than_tasks_are_enough():
    _, records = found_by(Wary, made_stream({"one": lambda count: inputs(1, 0, 1)}))
    assert records["task-masked", "aware"] == {"one": {"total": 100.0}}


def test_a_kind_that_cannot_be_read_is_told_of_and_the_others_are_asked():
    def damaged(count):
        raise InputError("letters.gz is damaged; fetch it again.")

    said = []
    _, records = found_by(Wary, made_stream({"letters": damaged, **UNSURE}), said.append)
    assert said == ["Note: not compared with letters: letters.gz is damaged; fetch it again."]
    assert set(records["task-masked", "aware"]) == set(UNSURE)


def test_a_method_without_probabilities_is_not_asked(monkeypatch):
    monkeypatch.setattr(Wary, "gives_probabilities", False)
    learner, records = found_by(Wary, made_stream(UNSURE))
    assert (records, learner.asked) == ({}, [])
