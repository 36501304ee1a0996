"""What every learner must hold to, as checks that anyone can run on a learner of their own.

    import pytest
    from merlin_cl.battery import CHECKS

    @pytest.mark.parametrize("check", CHECKS)
    def test_my_learner(check):
        check(MySettings(...))       # small settings: the battery's stream has 3 tasks of 40 examples with 6 numbers each

A check raises AssertionError with a sentence that says what was broken. `LIFE_CYCLE` are the rules of every day and want a
learner that learns. `HARD_CASES` (`hard_cases.py`) want finite answers and no more, also after 200 tasks: settings that learn
little will do there if the method is slow.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from merlin_cl.errors import MerlinError
from merlin_cl.hard_cases import HARD_CASES
from merlin_cl.learners.learner import MASKED, Learner, State
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.protocol import Inference, StreamInfo, TaskInfo

STREAM = StreamInfo("battery", input_shape=(2, 3), classes=7, tasks=3)
"""Six classes come, two a task; the head has one more, which never does."""
TASKS = [TaskInfo(index, (2 * index, 2 * index + 1)) for index in range(STREAM.tasks)]
EXAMPLES, BATCH = 40, 8

Check = Callable[[MethodSettings], None]
Step = Callable[[Learner[Any]], object]


def same_seed_same_result(settings: MethodSettings) -> None:
    """Two learners with the same seed answer the same, bit for bit."""
    first, second = (_learned(_fresh(settings)) for _ in range(2))
    _assert_same_answers(first, second, "Two learners with the same seed answer differently.")


def restored_equals_uninterrupted(settings: MethodSettings) -> None:
    """State taken at any moment, between tasks or within one, and restored into a new learner goes on exactly as before."""
    whole = _learned(_fresh(settings))
    steps = list(_steps())
    for cut in (3, 7, 11, 14, len(steps)):  # within a task, between two tasks, just begun, at the very end
        interrupted = _fresh(settings)
        for step in steps[:cut]:
            step(interrupted)
        state = _plain(interrupted.state())
        resumed = _fresh(settings)
        resumed.restore(state)
        for step in steps[cut:]:
            step(resumed)
        _assert_same_answers(whole, resumed, f"State taken after step {cut} of {len(steps)} does not resume exactly.")


def answering_changes_nothing(settings: MethodSettings) -> None:
    """A learner that is asked after every task ends up the same as one that never was."""
    asked, silent = _fresh(settings), _learned(_fresh(settings))
    for task in TASKS:
        _learn(asked, task)
        for inference in asked.inferences:
            _logits(asked, _everything()[0], inference)
    _assert_same_answers(asked, silent, "Asking for answers changes what is learned.")


def exemplars_within_budget(settings: MethodSettings) -> None:
    """Stored exemplars never take more than the budget, at any moment of the stream."""
    budget = getattr(settings, "exemplars", None)
    if budget is None:
        return
    learner, example = _fresh(settings), 4 * STREAM.input_shape[0] * STREAM.input_shape[1]
    for step in _steps():
        step(learner)
        stored = learner.stored_bytes().get("exemplars", 0)
        # Besides the input an exemplar may carry a label, a task and a few numbers.
        assert stored <= budget * (example + 64), f"{stored} bytes of exemplars are more than {budget} examples."


def no_class_before_its_time(settings: MethodSettings) -> None:
    """Classes of tasks that have not begun have the masked logit, and are never answered."""
    learner = _fresh(settings)
    x, _ = _everything()
    for task in TASKS:
        _learn(learner, task)
        unseen = sorted(set(range(STREAM.classes)) - set(learner.seen))
        for inference in learner.inferences:
            logits = _logits(learner, x, inference)
            assert (logits[:, unseen] == MASKED).all(), f"Classes {unseen} can be answered before they were seen."
            assert torch.isin(logits.argmax(dim=1), torch.tensor(learner.seen)).all()


def task_is_not_needed_or_guessed_from_the_batch(settings: MethodSettings) -> None:
    """Without the task, an answer depends on the input alone: not on its neighbours, their order, or who asked before."""
    learner = _learned(_fresh(settings))
    x, _ = _everything()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    for inference in (mode for mode in learner.inferences if mode != "aware"):
        together = learner.logits(x, inference=inference)
        shuffled = learner.logits(x[order], inference=inference)
        alone = torch.cat([learner.logits(x[at : at + 1], inference=inference) for at in range(0, len(x), 7)])
        assert torch.allclose(together[order], shuffled, atol=1e-4), "Answers depend on the order of the inputs."
        assert torch.allclose(together[::7], alone, atol=1e-4), (
            "Answers depend on which inputs are asked about together."
        )
        for task in range(STREAM.tasks):
            learner.logits(x[:2], task=task, inference=inference)
        assert torch.equal(together, learner.logits(x, inference=inference)), "Answers depend on earlier questions."


def views_agree_with_single_questions(settings: MethodSettings) -> None:
    """Choosing among all classes seen is the plain answer; choosing among some never answers another."""
    learner = _learned(_fresh(settings))
    x, _ = _everything()
    for inference in learner.inferences:
        task = 0 if inference == "aware" else None
        among = [learner.seen, TASKS[1].classes]
        everyone, some = learner.logits(x, task=task, inference=inference, among=among)
        assert torch.equal(everyone, learner.logits(x, task=task, inference=inference))
        assert torch.isin(some.argmax(dim=1), torch.tensor(TASKS[1].classes)).all()


def refuses_bad_input_and_goes_on(settings: MethodSettings) -> None:
    """Bad input is refused with a sentence, and leaves the learner as it was."""
    x, y = _examples(TASKS[0])
    nan = x.clone()
    nan[0, 0, 0] = float("nan")
    before: list[tuple[str, Step]] = [
        ("observe before begin", lambda learner: learner.observe(x, y)),
        ("end before begin", lambda learner: learner.end()),
        ("a task out of turn", lambda learner: learner.begin(TaskInfo(1, (0,)))),
        ("a class beyond the head", lambda learner: learner.begin(TaskInfo(0, (0, STREAM.classes)))),
        ("a task without classes", lambda learner: learner.begin(TaskInfo(0, ()))),
    ]
    during: list[tuple[str, Step]] = [
        ("begin twice", lambda learner: learner.begin(TASKS[1])),
        ("NaN", lambda learner: learner.observe(nan, y)),
        ("wrong shape", lambda learner: learner.observe(x.flatten(1), y)),
        ("too few labels", lambda learner: learner.observe(x, y[:-1])),
        ("a label of another task", lambda learner: learner.observe(x, y + 2)),
        ("a negative label", lambda learner: learner.observe(x, y - 1)),
        ("labels that are not integers", lambda learner: learner.observe(x, y.float())),
    ]
    learner = _fresh(settings)
    for name, attempt in before:
        _assert_refused(name, learner, attempt)
    learner.begin(TASKS[0])
    for name, attempt in during:
        _assert_refused(name, learner, attempt)
    for start in range(0, EXAMPLES, BATCH):
        learner.observe(x[start : start + BATCH], y[start : start + BATCH])
    learner.end()
    for task in TASKS[1:]:
        _learn(learner, task)
    _assert_refused("a task too many", learner, lambda learner: learner.begin(TaskInfo(STREAM.tasks, (0,))))
    _assert_refused("an unknown task", learner, lambda learner: learner.logits(x, task=STREAM.tasks))
    _assert_same_answers(learner, _learned(_fresh(settings)), "Refused input left a trace.")


def learns_the_first_task(settings: MethodSettings) -> None:
    """After one task of well separated classes most answers are right."""
    learner = _fresh(settings)
    _learn(learner, TASKS[0])
    x, y = _examples(TASKS[0])
    for inference in learner.inferences:
        accuracy = float((_logits(learner, x, inference).argmax(dim=1) == y).float().mean())
        assert accuracy > 0.8, f"Only {accuracy:.0%} of the first task's examples are answered right."


def grows_or_says_that_it_cannot(settings: MethodSettings) -> None:
    """Room for more classes changes no answer, within a task or between tasks, and what then comes is learned; or the method
    refuses in a sentence."""
    x, _ = _everything()
    steps, another = (
        list(_steps()),
        replace(TASKS[-1], index=STREAM.tasks, classes=(STREAM.classes, STREAM.classes + 1)),
    )
    learner = _fresh(settings)
    for done, cut in ((0, 4), (4, 7), (7, 11)):  # within the first task, between two, within the second
        for step in steps[done:cut]:
            step(learner)
        try:
            wider = learner.grown(STREAM.classes + 2, STREAM.tasks)
        except MerlinError as refusal:
            _assert_sentence("growth", refusal)
            return
        for inference in learner.inferences:
            before, after = (_logits(one, x, inference).softmax(dim=1) for one in (learner, wider))
            assert torch.allclose(before, after[:, : STREAM.classes], atol=1e-3), "Growing changes answers."
            assert (after[:, STREAM.classes :] == 0).all(), "Classes can be answered that have not been seen."
    for step in steps[cut:]:
        step(wider)
    wider = wider.grown(STREAM.classes + 2, STREAM.tasks + 1)
    resumed = settings.build(wider.stream, wider.seed)
    resumed.restore(_plain(wider.state()))
    x, y = _examples(another)
    for one in (wider, resumed):
        one.begin(another)
        for start in [*range(0, EXAMPLES, BATCH)] * 3:
            one.observe(x[start : start + BATCH], y[start : start + BATCH])
        one.end()
        answers = one.logits(x, task=another.index, among=[another.classes])[0].argmax(dim=1)
        assert (answers == y).float().mean() > 0.8, "Classes that came after growth are not learned."
    _assert_same_answers(wider, resumed, "The state of a learner that has grown does not resume exactly.")


def takes_classes_as_they_turn_up(settings: MethodSettings) -> None:
    """A class that a task was not said to bring is learned as well as one that was announced."""
    learner, (x, y) = _fresh(settings), _examples(TASKS[0])
    learner.begin(replace(TASKS[0], classes=TASKS[0].classes[:1]))
    _assert_refused("a class not announced", learner, lambda learner: learner.observe(x, y))
    learner.observe(x[y == 0][:4], y[y == 0][:4])
    learner.admit(TASKS[0].classes)
    assert learner.seen == list(TASKS[0].classes)
    for start in range(0, EXAMPLES, BATCH):
        learner.observe(x[start : start + BATCH], y[start : start + BATCH])
    learner.end()
    for inference in learner.inferences:
        accuracy = float((_logits(learner, x, inference).argmax(dim=1) == y).float().mean())
        assert accuracy > 0.8, f"Only {accuracy:.0%} are answered right where a class turned up late."
    _assert_refused("a class between tasks", learner, lambda learner: learner.admit([2]))


def answers_within_a_task(settings: MethodSettings) -> None:
    """A learner can be asked before a task has ended, also the first one, and that changes nothing."""
    asked, silent = _fresh(settings), _learned(_fresh(settings))
    for count, step in enumerate(_steps()):
        step(asked)
        if count in (3, 10):
            for inference in asked.inferences:
                assert torch.isfinite(_logits(asked, _everything()[0], inference)).all()
    _assert_same_answers(asked, silent, "Asking for answers within a task changes what is learned.")


LIFE_CYCLE: list[Check] = [
    same_seed_same_result,
    restored_equals_uninterrupted,
    answering_changes_nothing,
    exemplars_within_budget,
    no_class_before_its_time,
    task_is_not_needed_or_guessed_from_the_batch,
    views_agree_with_single_questions,
    refuses_bad_input_and_goes_on,
    learns_the_first_task,
    answers_within_a_task,
    takes_classes_as_they_turn_up,
    grows_or_says_that_it_cannot,
]
CHECKS: list[Check] = [*LIFE_CYCLE, *HARD_CASES]


def _fresh(settings: MethodSettings) -> Learner[Any]:
    return settings.build(STREAM, seed=3)


def _examples(task: TaskInfo) -> tuple[Tensor, Tensor]:
    """Two clouds a task, well apart."""
    generator = torch.Generator().manual_seed(task.index)
    y = torch.tensor(task.classes).repeat(EXAMPLES // len(task.classes))
    draws = torch.Generator().manual_seed(99)
    centres = [2 * torch.randn(count, *STREAM.input_shape, generator=draws) for count in (STREAM.classes, 2)]
    return torch.cat(centres)[y] + 0.3 * torch.randn(EXAMPLES, *STREAM.input_shape, generator=generator), y


def _everything() -> tuple[Tensor, Tensor]:
    pairs = [_examples(task) for task in TASKS]
    return torch.cat([x for x, _ in pairs]), torch.cat([y for _, y in pairs])


def _steps() -> Iterator[Step]:
    """The whole stream, one call of a learner after the other."""

    def observe(x: Tensor, y: Tensor) -> Step:
        return lambda learner: learner.observe(x, y)

    def begin(task: TaskInfo) -> Step:
        return lambda learner: learner.begin(task)

    for task in TASKS:
        x, y = _examples(task)
        yield begin(task)
        for start in range(0, EXAMPLES, BATCH):
            yield observe(x[start : start + BATCH], y[start : start + BATCH])
        yield lambda learner: learner.end()


def _learn(learner: Learner[Any], task: TaskInfo) -> None:
    count = 2 + EXAMPLES // BATCH  # steps a task
    for step in list(_steps())[count * task.index : count * (task.index + 1)]:
        step(learner)


def _learned(learner: Learner[Any]) -> Learner[Any]:
    for step in _steps():
        step(learner)
    return learner


def _logits(learner: Learner[Any], x: Tensor, inference: Inference | None) -> Tensor:
    return learner.logits(x, task=0 if inference == "aware" else None, inference=inference)


def _assert_same_answers(one: Learner[Any], other: Learner[Any], complaint: str) -> None:
    x, _ = _everything()
    for inference in one.inferences:
        assert torch.equal(_logits(one, x, inference), _logits(other, x, inference)), complaint


def _assert_refused(name: str, learner: Learner[Any], attempt: Step) -> None:
    try:
        attempt(learner)
    except MerlinError as refusal:
        _assert_sentence(name, refusal)
    else:
        raise AssertionError(f"{name} was not refused.")


def _assert_sentence(name: str, refusal: MerlinError) -> None:
    assert str(refusal).endswith((".", "?")), f"The refusal of {name} is not a sentence: {refusal}"


def _plain(state: State) -> State:
    """The state after a journey through what a file can hold: tensors and JSON. Anything else fails here."""
    found: State = {}
    for key, value in state.items():
        assert isinstance(key, str), f"State has a key that is not text: {key!r}"
        if isinstance(value, dict):
            found[key] = _plain(value)
        elif isinstance(value, Tensor):
            found[key] = value.clone()
        else:
            found[key] = json.loads(json.dumps(value))
    return found
