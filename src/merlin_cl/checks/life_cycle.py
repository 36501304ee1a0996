"""The rules of every day that every learner keeps to: one seed one result, states that resume, views that agree, bad input
refused without a trace, room for classes that nobody announced."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from merlin_cl.checks import clouds
from merlin_cl.errors import MerlinError
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.protocol import Inference, TaskInfo
from merlin_cl.statefile import State, decode, encode
from merlin_cl.tensors import MASKED

Check = Callable[[MethodSettings], None]


def same_seed_same_result(settings: MethodSettings) -> None:
    """Two learners with the same seed answer the same, bit for bit."""
    first, second = (clouds.learned(_fresh(settings)) for _ in range(2))
    _assert_same_answers(
        first,
        second,
        "Two learners with the same seed learned the same three tasks and answer differently; draw from self.generator(...).",
    )


def restored_equals_uninterrupted(settings: MethodSettings) -> None:
    """State taken at any moment, between tasks or within one, and restored into a new learner goes on exactly as before."""
    whole, steps = _fresh(settings), list(clouds.steps())
    states = {}
    for cut, step in enumerate(steps, start=1):
        step(whole)
        if cut in (3, 7, 11, 14, len(steps)):  # within a task, between two, within, between, at the very end
            states[cut] = _plain(whole.state())
    for cut, state in states.items():
        resumed = _fresh(settings)
        resumed.restore(state)
        for step in steps[cut:]:
            step(resumed)
        _assert_same_answers(
            whole,
            resumed,
            f"A learner restored from the state taken {_moment(cut)}, and then taught the rest, answers differently from "
            "one never interrupted; let _state() hold all that was learned, generators included, and _restore() take it over.",
        )


def answering_changes_nothing(settings: MethodSettings) -> None:
    """A learner that is asked after every task ends up the same as one that never was."""
    asked, silent = _fresh(settings), clouds.learned(_fresh(settings))
    for task in clouds.TASKS:
        clouds.learn(asked, task)
        for inference in asked.inferences:
            _logits(asked, clouds.everything()[0], inference)
    _assert_same_answers(
        asked,
        silent,
        "A learner that was asked after each of three tasks answers differently from one that was asked only at the end; let "
        "_answers() change nothing.",
    )


def exemplars_within_budget(settings: MethodSettings) -> None:
    """Stored exemplars never take more than the budget, at any moment of the stream."""
    budget = getattr(settings, "exemplars", None)
    if budget is None:
        return
    learner, example = _fresh(settings), 4 * clouds.STREAM.input_shape[0] * clouds.STREAM.input_shape[1]
    for count, step in enumerate(clouds.steps(), start=1):
        step(learner)
        stored = learner.stored_bytes().get("exemplars", 0)
        # Besides the input an exemplar may carry a label, a task and a few numbers.
        assert stored <= budget * (example + 64), (
            f"stored_bytes() has {stored} bytes of exemplars after {count} steps; {budget} examples take {budget * example}."
        )


def no_class_before_its_time(settings: MethodSettings) -> None:
    """Classes of tasks that have not begun have the masked logit, and are never answered."""
    learner = _fresh(settings)
    x, _ = clouds.everything()
    for task in clouds.TASKS:
        clouds.learn(learner, task)
        unseen = sorted(set(range(clouds.STREAM.classes)) - set(learner.seen))
        for inference in learner.inferences:
            logits = _logits(learner, x, inference)
            after = f"after task {task.index}, with classes {learner.seen} seen (inference {inference})"
            assert (logits[:, unseen] == MASKED).all(), (
                f"Classes {unseen} can be answered {after}; mask them as `allowed` says."
            )
            chosen = logits.argmax(dim=1)
            assert torch.isin(chosen, torch.tensor(learner.seen)).all(), f"A class not seen is answered {after}."


def task_is_not_needed_or_guessed_from_the_batch(settings: MethodSettings) -> None:
    """Without the task, an answer depends on the input alone: not on its neighbours, their order, or who asked before."""
    learner = clouds.learned(_fresh(settings))
    x, _ = clouds.everything()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    for inference in (mode for mode in learner.inferences if mode != "aware"):
        together = learner.logits(x, inference=inference)
        shuffled = learner.logits(x[order], inference=inference)
        alone = torch.cat([learner.logits(x[at : at + 1], inference=inference) for at in range(0, len(x), 7)])
        assert torch.allclose(together[order], shuffled, atol=1e-4), (
            f"Taught all three tasks and asked about {len(x)} inputs twice, the second time shuffled, it gives other answers: "
            "they depend on the order of the inputs."
        )
        assert torch.allclose(together[::7], alone, atol=1e-4), (
            f"Taught all three tasks, it answers every seventh of {len(x)} inputs differently when asked about it alone: answers "
            "depend on which inputs are asked about together."
        )
        for task in range(clouds.STREAM.tasks):
            learner.logits(x[:2], task=task, inference=inference)
        assert torch.equal(together, learner.logits(x, inference=inference)), (
            "Asked the same again, after two inputs were asked about with each task named, it gives other answers: they depend "
            "on earlier questions."
        )


def views_agree_with_single_questions(settings: MethodSettings) -> None:
    """Choosing among all classes seen is the plain answer; choosing among some never answers another."""
    learner = clouds.learned(_fresh(settings))
    x, _ = clouds.everything()
    for inference in learner.inferences:
        task = 0 if inference == "aware" else None
        class_sets = [learner.seen, clouds.TASKS[1].classes]
        everyone, some = learner.logits(x, task=task, inference=inference, class_sets=class_sets)
        alone = learner.logits(x, task=task, inference=inference)
        assert torch.equal(everyone, alone), (
            f"Asked for two views at once, scores among all classes seen differ from those asked for alone ({inference})."
        )
        assert torch.isin(some.argmax(dim=1), torch.tensor(clouds.TASKS[1].classes)).all(), (
            f"Asked to choose among classes {list(clouds.TASKS[1].classes)}, it answers another ({inference})."
        )


def refuses_bad_input_and_goes_on(settings: MethodSettings) -> None:
    """Bad input is refused with a sentence, and leaves the learner as it was."""
    x, y = clouds.examples(clouds.TASKS[0])
    nan = x.clone()
    nan[0, 0, 0] = float("nan")
    before: list[tuple[str, clouds.Step]] = [
        ("observe before begin", lambda learner: learner.observe(x, y)),
        ("end before begin", lambda learner: learner.end()),
        ("a task out of turn", lambda learner: learner.begin(TaskInfo(1, (0,)))),
        ("a class beyond the head", lambda learner: learner.begin(TaskInfo(0, (0, clouds.STREAM.classes)))),
        ("a task without classes", lambda learner: learner.begin(TaskInfo(0, ()))),
    ]
    during: list[tuple[str, clouds.Step]] = [
        ("begin twice", lambda learner: learner.begin(clouds.TASKS[1])),
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
    learner.begin(clouds.TASKS[0])
    for name, attempt in during:
        _assert_refused(name, learner, attempt)
    for start in range(0, clouds.EXAMPLES, clouds.BATCH):
        learner.observe(x[start : start + clouds.BATCH], y[start : start + clouds.BATCH])
    learner.end()
    for task in clouds.TASKS[1:]:
        clouds.learn(learner, task)
    _assert_refused("a task too many", learner, lambda learner: learner.begin(TaskInfo(clouds.STREAM.tasks, (0,))))
    _assert_refused("an unknown task", learner, lambda learner: learner.logits(x, task=clouds.STREAM.tasks))
    _assert_same_answers(
        learner,
        clouds.learned(_fresh(settings)),
        "A learner that refused bad input answers differently from one that never had any; check before anything is changed.",
    )


def learns_the_first_task(settings: MethodSettings) -> None:
    """After one task of well separated classes most answers are right."""
    learner = _fresh(settings)
    clouds.learn(learner, clouds.TASKS[0])
    x, y = clouds.examples(clouds.TASKS[0])
    for inference in learner.inferences:
        accuracy = float((_logits(learner, x, inference).argmax(dim=1) == y).float().mean())
        assert accuracy > 0.8, (
            f"After one pass over the first task (40 examples of two classes well apart, 8 at a time) {accuracy:.0%} of them are "
            f"answered right (inference {inference}); more than 80% should be. Try a higher learning rate or more updates."
        )


def grows_or_says_that_it_cannot(settings: MethodSettings) -> None:
    """Room for more classes changes no answer, within a task or between tasks, and what then comes is learned; or the method
    refuses in a sentence."""
    x, _ = clouds.everything()
    steps, another = (
        list(clouds.steps()),
        replace(
            clouds.TASKS[-1], index=clouds.STREAM.tasks, classes=(clouds.STREAM.classes, clouds.STREAM.classes + 1)
        ),
    )
    learner = _fresh(settings)
    for done, cut in ((0, 4), (4, 7), (7, 11)):  # within the first task, between two, within the second
        for step in steps[done:cut]:
            step(learner)
        try:
            wider = learner.grown(clouds.STREAM.classes + 2, clouds.STREAM.tasks)
        except MerlinError as refusal:
            _assert_sentence("growth", refusal)
            return
        for inference in learner.inferences:
            before, after = (_logits(one, x, inference).softmax(dim=1) for one in (learner, wider))
            assert torch.allclose(before, after[:, : clouds.STREAM.classes], atol=1e-3), (
                f"A learner given room for two more classes {_moment(cut)} answers differently (inference {inference})."
            )
            assert (after[:, clouds.STREAM.classes :] == 0).all(), (
                f"A learner given room for two more classes {_moment(cut)} answers with them before they were seen."
            )
    for step in steps[cut:]:
        step(wider)
    wider = wider.grown(clouds.STREAM.classes + 2, clouds.STREAM.tasks + 1)
    resumed = settings.build(wider.stream, wider.seed)
    resumed.restore(_plain(wider.state()))
    x, y = clouds.examples(another)
    for one in (wider, resumed):
        one.begin(another)
        for start in [*range(0, clouds.EXAMPLES, clouds.BATCH)] * 3:
            one.observe(x[start : start + clouds.BATCH], y[start : start + clouds.BATCH])
        one.end()
        answers = one.logits(x, task=another.index, class_sets=[another.classes])[0].argmax(dim=1)
        assert (answers == y).float().mean() > 0.8, (
            "Two classes that came after growth, shown three times over, are not answered right among themselves."
        )
    _assert_same_answers(
        wider,
        resumed,
        "A learner that has grown, and one that was restored from its state, learn the same task and answer differently.",
    )


def takes_classes_as_they_turn_up(settings: MethodSettings) -> None:
    """A class that a task was not said to bring is learned as well as one that was announced."""
    learner, (x, y) = _fresh(settings), clouds.examples(clouds.TASKS[0])
    learner.begin(replace(clouds.TASKS[0], classes=clouds.TASKS[0].classes[:1]))
    _assert_refused("a class not announced", learner, lambda learner: learner.observe(x, y))
    learner.observe(x[y == 0][:4], y[y == 0][:4])
    learner.admit(clouds.TASKS[0].classes)
    assert learner.seen == list(clouds.TASKS[0].classes), (
        f"admit({clouds.TASKS[0].classes}) left the classes seen {learner.seen}."
    )
    for start in range(0, clouds.EXAMPLES, clouds.BATCH):
        learner.observe(x[start : start + clouds.BATCH], y[start : start + clouds.BATCH])
    learner.end()
    for inference in learner.inferences:
        accuracy = float((_logits(learner, x, inference).argmax(dim=1) == y).float().mean())
        assert accuracy > 0.8, (
            f"Of a task whose second class was admitted after 4 examples, {accuracy:.0%} are answered right (inference "
            f"{inference}); more than 80% should be."
        )
    _assert_refused("a class between tasks", learner, lambda learner: learner.admit([2]))


def answers_within_a_task(settings: MethodSettings) -> None:
    """A learner can be asked before a task has ended, also the first one, and that changes nothing."""
    asked, silent = _fresh(settings), clouds.learned(_fresh(settings))
    for count, step in enumerate(clouds.steps()):
        step(asked)
        if count in (3, 10):
            for inference in asked.inferences:
                finite = torch.isfinite(_logits(asked, clouds.everything()[0], inference)).all()
                assert finite, f"Scores asked for {_moment(count + 1)} are not finite (inference {inference})."
    _assert_same_answers(
        asked,
        silent,
        "A learner that was asked within tasks, after 3 and after 10 steps, answers differently from one that was asked only "
        "at the end; let _answers() change nothing.",
    )


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


def _fresh(settings: MethodSettings) -> Learner[Any]:
    return settings.build(clouds.STREAM, seed=3)


def _logits(learner: Learner[Any], x: Tensor, inference: Inference | None) -> Tensor:
    return learner.logits(x, task=0 if inference == "aware" else None, inference=inference)


def _assert_same_answers(one: Learner[Any], other: Learner[Any], complaint: str) -> None:
    x, _ = clouds.everything()
    for inference in one.inferences:
        assert torch.equal(_logits(one, x, inference), _logits(other, x, inference)), complaint


def _assert_refused(name: str, learner: Learner[Any], attempt: clouds.Step) -> None:
    try:
        attempt(learner)
    except MerlinError as refusal:
        _assert_sentence(name, refusal)
    else:
        raise AssertionError(
            f"{name} was not refused {_progress(learner)}; let MerlinError say what is wrong before anything is changed."
        )


def _progress(learner: Learner[Any]) -> str:
    """How far a learner is when something is tried on it."""
    begun = len(learner.tasks)
    if learner.learning:
        return f"within task {begun - 1}"
    return f"after task {begun - 1}" if begun else "before the first task"


def _assert_sentence(name: str, refusal: MerlinError) -> None:
    assert str(refusal).endswith((".", "?")), f"The refusal of {name} is not a sentence: {refusal}"


def _plain(state: State) -> State:
    """The state after a journey through a file, which holds tensors and plain values. Anything else fails here."""
    try:
        return decode(encode(state, {}))[0]
    except TypeError as error:
        raise AssertionError(f"state() cannot be kept in a file: {error}") from None


def _moment(cut: int) -> str:
    """When so many steps of the stream had been taken, in words: a task begins, has five batches, and ends."""
    task, step = divmod(cut, clouds.STEPS)
    if step == 0:
        return f"after task {task - 1} had ended"
    return f"within task {task}, after {step - 1} of its {clouds.STEPS - 2} batches"
