"""Does the weight distribution hold the tasks? Sampled models beside base models, task by task, and a verdict in words."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from merlin_cl.report.summary import Result

Word = Literal["held", "faded", "forgotten", "empty", "unlearned"]

EMPTY = 0.25
"""A decoder is empty that gives back less than this share of what the base models know above chance."""
FADED, FORGOTTEN = 3.0, 10.0
"""Points that sampled models may be below the base ensemble and the task still be held; points lost since it was learned from
which on it is forgotten."""
UNLEARNED = 5.0
"""Points above chance that base models need for there to be anything to hold."""


@dataclass(frozen=True)
class Knowledge:
    """What is known of one task, in percent: by the base ensemble, by sampled ones, by chance, by the control."""

    task: int
    base: float
    learned: float
    """Of models sampled right after the task was learned."""
    final: float
    """Of models sampled after the last task."""
    chance: float | None
    """None where nobody knows how many classes the task has."""
    control: float | None
    """Of the exemplar-only control after the last task, choosing among the task's classes too."""
    relative_error: float | None
    """Of the decoded offsets when the task was learned."""
    base_diversity: float | None
    learned_diversity: float | None
    final_diversity: float | None


@dataclass(frozen=True)
class Verdict:
    """A word for every task, the worst of them for the run, and sentences that say why."""

    word: Word
    tasks: list[Word]
    sentences: list[str]

    def record(self) -> dict[str, Any]:
        """Plain values, for --json."""
        return asdict(self)


def knowledge(result: Result, control: Result | None, classes: Sequence[int] | None) -> list[Knowledge]:
    """One a task; none for a method whose probes do not compare sampled with base models. `classes`: how many a task has."""
    found = []
    for task, (learned, final) in enumerate(
        zip(result["diagnosis"]["learned"], result["diagnosis"]["final"], strict=True)
    ):
        if learned is None or final is None or not {"base_ensemble", "sampled_ensemble"} <= set(learned):
            return []
        found.append(
            Knowledge(
                task,
                base=learned["base_ensemble"],
                learned=learned["sampled_ensemble"],
                final=final["sampled_ensemble"],
                chance=None if classes is None else 100 / classes[task],
                control=None if control is None else _within_the_task(control, task),
                relative_error=learned.get("relative_error"),
                base_diversity=learned.get("base_diversity"),
                learned_diversity=learned.get("sampled_diversity"),
                final_diversity=final.get("sampled_diversity"),
            )
        )
    return found


def _within_the_task(control: Result, task: int) -> float | None:
    """The control's accuracy at the end, among the classes of the task: probes choose among those, too."""
    matrices = [score["matrix"] for score in control["scores"] if score["view"] != "class-incremental"]
    return float(matrices[0][-1][task]) if matrices else None


def judge(tasks: Sequence[Knowledge]) -> Verdict | None:
    """What sampled models say of the decoder; None where there are none."""
    if not tasks:
        return None
    words: list[Word] = ["empty"] * len(tasks) if _holds_nothing(tasks) else [_word(task) for task in tasks]
    worst: list[Word] = ["unlearned", "empty", "forgotten", "faded", "held"]
    word = next(word for word in worst if word in words)
    if set(words) == {"empty"}:
        sentences = ["sampled models are at chance: the decoder holds nothing"]
    elif word == "held":
        most = max(0.0, *(task.base - task.final for task in tasks))
        sentences = [f"held: sampled models end within {most:.1f} points of every task's base ensemble"]
    else:
        sentences = [_sentence(task, said) for task, said in zip(tasks, words, strict=True) if said != "held"]
    return Verdict(word, words, sentences)


def _holds_nothing(tasks: Sequence[Knowledge]) -> bool:
    """Whether sampled models are at chance on average: on a task of two classes a single one may be well above it by luck."""
    known = [task for task in tasks if task.chance is not None and task.base - task.chance >= UNLEARNED]
    shares = [(task.learned - task.chance) / (task.base - task.chance) for task in known if task.chance is not None]
    return len(known) == len(tasks) and sum(shares) < EMPTY * len(shares)


def _word(task: Knowledge) -> Word:
    if task.chance is not None:
        taught = task.base - task.chance
        if taught < UNLEARNED:
            return "unlearned"
        if task.learned - task.chance < EMPTY * taught:
            return "empty"
    if task.learned - task.final >= FORGOTTEN:
        return "forgotten"
    return "faded" if task.base - task.final > FADED else "held"


def _sentence(task: Knowledge, word: Word) -> str:
    name = f"task {task.task + 1}"
    if word == "unlearned":
        return f"{name}: its base models are at chance themselves, so there was nothing to hold"
    if word == "empty":
        return f"{name}: sampled models are at chance right after learning: the decoder holds nothing of it"
    if word == "forgotten":
        return f"{name} lost {task.learned - task.final:.0f} points between learning and the end: forgotten"
    return f"{name} is held in part: sampled models end {task.base - task.final:.1f} points below its base ensemble"
