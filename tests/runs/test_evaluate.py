"""What is measured of answers, against the same answers measured at once."""

import dataclasses

import numpy as np
import pytest
import torch

from merlin_cl.metrics import uncertainty
from merlin_cl.protocol import StreamInfo, TaskInfo
from merlin_cl.runs.evaluate import Question, evaluate, questions
from merlin_cl.streams.stream import Pool, Selection, Stream, Task

from . import fakes

EXAMPLES = (30, 12, 21)
"""Test examples of each task: not as many in one as in another."""


def made_stream(other=None):
    """Three tasks of two classes each; an input is two numbers, of which the first says roughly which class it is."""
    random = torch.Generator().manual_seed(0)
    tasks = []
    for index, count in enumerate(EXAMPLES):
        y = torch.randint(2 * index, 2 * index + 2, (count,), generator=random)
        x = torch.stack([y + torch.randn(count, generator=random), torch.rand(count, generator=random)], dim=1)
        chosen = Selection(Pool(x, y), torch.arange(count))
        tasks.append(Task(TaskInfo(index, (2 * index, 2 * index + 1)), chosen, chosen, random))
    return Stream(StreamInfo("made", (2,), 6, 3), tasks, other=other)


@pytest.fixture
def stream():
    return made_stream()


@pytest.fixture
def learner(stream):
    learner = fakes.MeansSettings().build(stream.info, 0)
    for task in stream:
        learner.begin(task.info)
        learner.observe(*task.test())
        learner.end()
    return learner


def answers(learner, stream, question):
    """Probabilities of all examples, their labels, and which are answered right; one example after another."""
    rows = []
    for j, task in enumerate(stream):
        class_sets = [task.info.classes if question.view == "task-masked" else learner.seen]
        for x, y in zip(*task.test(), strict=True):
            told = j if question.inference == "aware" else None
            scores = learner.logits(x[None], told, inference=question.inference, class_sets=class_sets)[0, 0]
            rows.append((scores.softmax(dim=0).tolist(), int(y), int(scores.argmax()) == y))
    probabilities, labels, correct = zip(*rows, strict=True)
    return np.array(probabilities), np.array(labels), np.array(correct)


def test_every_example_of_the_tasks_seen_counts_alike(learner, stream):
    asked = questions(learner, stream.info, "all")
    assert len(asked) == 3
    evaluations = evaluate(learner, stream, 3, asked, lambda *_: None)
    for question in asked:
        probabilities, labels, correct = answers(learner, stream, question)
        measured, confidence = evaluations[question].calibration, probabilities.max(axis=1)
        assert measured.nll == pytest.approx(uncertainty.negative_log_likelihood(probabilities, labels), abs=1e-5)
        assert measured.brier == pytest.approx(uncertainty.brier_score(probabilities, labels), abs=1e-5)
        assert measured.ece == pytest.approx(
            100 * uncertainty.expected_calibration_error(confidence, correct), abs=1e-3
        )
        assert measured.risk_area == pytest.approx(100 * uncertainty.risk_coverage_area(confidence, correct), abs=1e-3)
        shares = np.array(EXAMPLES) / sum(EXAMPLES)
        assert measured.risks[-1] == pytest.approx(100 - np.dot(shares, evaluations[question].accuracies), abs=1e-3)
        counts, sure, right = np.array(measured.reliability).T
        assert counts.sum() == sum(EXAMPLES)
        assert np.dot(counts, np.abs(sure - right)) / counts.sum() == pytest.approx(measured.ece, abs=1e-3)


def test_tables_are_of_the_end_alone(learner, stream):
    (question, *_) = questions(learner, stream.info, "all")
    before = evaluate(learner, stream, 2, [question], lambda *_: None)[question].calibration
    assert (before.reliability, before.risks, before.risk_area) == (None, None, None)
    assert set(before.record()) == {"nll", "brier", "ece"}


def test_masking_to_the_task_can_only_help_the_likelihood(learner, stream):
    asked = questions(learner, stream.info, "aggregate")
    evaluations = evaluate(learner, stream, 3, asked, lambda *_: None)
    free, masked = (
        evaluations[Question(view, "aggregate")].calibration for view in ("class-incremental", "task-masked")
    )
    assert masked.nll < free.nll


def test_methods_without_probabilities_are_not_measured(learner, stream, monkeypatch):
    asked = questions(learner, stream.info, "aware")
    plain = evaluate(learner, stream, 3, asked, lambda *_: None)
    monkeypatch.setattr(type(learner), "gives_probabilities", False)
    assert evaluate(learner, stream, 3, asked, lambda *_: None) == {
        question: dataclasses.replace(one, calibration=None) for question, one in plain.items()
    }
