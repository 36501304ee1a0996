"""Does the weight distribution hold the tasks? Sampled models beside base models and beside the last task's, and a verdict."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from merlin_cl.metrics import mean
from merlin_cl.report.summary import Result

Word = Literal["held", "faded", "collapsed", "replayed", "forgotten", "empty", "unlearned"]
WORST_FIRST: tuple[Word, ...] = ("unlearned", "empty", "forgotten", "replayed", "collapsed", "faded", "held")

EMPTY = 0.25
"""A decoder is empty that gives back less than this share of what the base models know above chance."""
FADED, FORGOTTEN = 3.0, 10.0
"""Points that sampled models may be below the base ensemble and the task still be held; points lost since it was learned from
which on it is forgotten."""
UNLEARNED = 5.0
"""Points above chance that base models need for there to be anything to hold."""
REPLAYED = 0.5
"""Points that an old task's own models must be above the last task's, which know it by replay, on average over old tasks."""
COLLAPSED = 0.05
"""Samples that differ less than this share of how far base models do are one model."""


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
    relative_error: float | None = None
    """Of the decoded offsets when the task was learned."""
    base_diversity: float | None = None
    """The share of inputs on which two base models differ; likewise of sampled ones."""
    learned_diversity: float | None = None
    final_diversity: float | None = None
    last: float | None = None
    """Of models sampled for the last task, which know this one by replay."""
    single: float | None = None
    """Of one model sampled after the last task."""


@dataclass(frozen=True)
class Verdict:
    """A word for every task, the worst of them for the run, and sentences that say why."""

    word: Word
    tasks: list[Word]
    sentences: list[str]
    facts: list[str] = field(default_factory=list)
    """What else was measured of the whole run, good or bad."""

    def record(self) -> dict[str, Any]:
        """Plain values, for --json."""
        return asdict(self)


def knowledge(result: Result, control: Result | None, classes: Sequence[int] | None) -> list[Knowledge]:
    """One a task; none for a method whose probes do not compare sampled with base models. `classes`: how many a task has."""
    known = []
    for task, (learned, final) in enumerate(
        zip(result["diagnosis"]["learned"], result["diagnosis"]["final"], strict=True)
    ):
        if learned is None or final is None or not {"base_ensemble", "sampled_ensemble"} <= set(learned):
            return []
        known.append(
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
                last=final.get("last_ensemble"),
                single=final.get("sampled_single"),
            )
        )
    return known


def _within_the_task(control: Result, task: int) -> float | None:
    """The control's accuracy at the end, among the classes of the task: probes choose among those, too."""
    matrices = [score["matrix"] for score in control["scores"] if score["view"] != "class-incremental"]
    return float(matrices[0][-1][task]) if matrices else None


def judge(tasks: Sequence[Knowledge]) -> Verdict | None:
    """What sampled models say of the distribution; None where there are none."""
    if not tasks:
        return None
    by_replay = _known_by_replay(tasks)
    words: list[Word] = ["empty"] * len(tasks) if _holds_nothing(tasks) else [_word(task, by_replay) for task in tasks]
    if set(words) == {"empty"}:
        return Verdict("empty", words, ["sampled models are at chance: the decoder holds nothing"], _facts(tasks))
    sentences = []
    if "replayed" in words and by_replay == _old(tasks):
        own, last = _average(by_replay, lambda task: task.final), _average(by_replay, lambda task: task.last)
        sentences.append(
            f"carried by replay alone: the last task's models score {last:.1f} % on earlier tasks, those sampled for them "
            f"{own:.1f} %, so nothing shows that the distribution holds them"
        )
    several = "replayed" if sentences else None
    sentences += [
        _sentence(task, word) for task, word in zip(tasks, words, strict=True) if word not in ("held", several)
    ]
    if collapse := _collapse(tasks):
        sentences.append(collapse)
    if not sentences:
        most = max(0.0, *(task.base - task.final for task in tasks))
        sentences = [f"held: sampled models end within {most:.1f} points of every task's base ensemble"]
    signs = {*words, *(["collapsed"] if collapse else [])}
    return Verdict(next(word for word in WORST_FIRST if word in signs), words, sentences, _facts(tasks))


def _holds_nothing(tasks: Sequence[Knowledge]) -> bool:
    """Whether sampled models are at chance on average: on a task of two classes a single one may be well above it by luck."""
    known = [task for task in tasks if task.chance is not None and task.base - task.chance >= UNLEARNED]
    shares = [(task.learned - task.chance) / (task.base - task.chance) for task in known if task.chance is not None]
    return len(known) == len(tasks) and sum(shares) < EMPTY * len(shares)


def _old(tasks: Sequence[Knowledge]) -> list[Knowledge]:
    """All but the last task, where it was measured what the last one's models make of them."""
    return [task for task in tasks[:-1] if task.last is not None]


def _known_by_replay(tasks: Sequence[Knowledge]) -> list[Knowledge]:
    """Old tasks whose own models are no better than the last task's: all of them, if it is so on average.

    On an easy task both may know everything; so where own models are better on average, only those tasks are meant on which
    they are worse.
    """
    old = _old(tasks)
    if old and mean([task.final - (task.last or 0.0) for task in old]) < REPLAYED:
        return old
    return [task for task in old if task.final - (task.last or 0.0) <= -REPLAYED]


def _collapse(tasks: Sequence[Knowledge]) -> str | None:
    """That samples are one model, as a sentence; None where they differ, or nobody measured it."""
    samples, base = (
        _average(tasks, value) for value in (lambda task: task.final_diversity, lambda task: task.base_diversity)
    )
    if samples is None or base is None or samples > COLLAPSED * base:
        return None
    return (
        f"collapsed: two models sampled for a task differ on {samples:.2f} % of its inputs, two base models on {base:.2f} %: "
        "there is one model a task, and nothing to sample"
    )


def _word(task: Knowledge, by_replay: Sequence[Knowledge]) -> Word:
    if task.chance is not None:
        taught = task.base - task.chance
        if taught < UNLEARNED:
            return "unlearned"
        if task.learned - task.chance < EMPTY * taught:
            return "empty"
    if task.learned - task.final >= FORGOTTEN:
        return "forgotten"
    if task in by_replay:
        return "replayed"
    return "faded" if task.base - task.final > FADED else "held"


def _sentence(task: Knowledge, word: Word) -> str:
    name = f"task {task.task + 1}"
    if word == "unlearned":
        return f"{name}: its base models are at chance themselves, so there was nothing to hold"
    if word == "empty":
        return f"{name}: sampled models are at chance right after learning: the decoder holds nothing of it"
    if word == "forgotten":
        return f"{name} lost {task.learned - task.final:.0f} points between learning and the end: forgotten"
    if word == "replayed":
        return f"{name} is carried by replay alone: the last task's models score {task.last:.1f} %, its own {task.final:.1f} %"
    return f"{name} is held in part: sampled models end {task.base - task.final:.1f} points below its base ensemble"


def _facts(tasks: Sequence[Knowledge]) -> list[str]:
    """Averages over tasks: what more models are worth, how far they differ, what consolidation kept, what replay alone knows."""
    learned, final = _average(tasks, lambda task: task.learned), _average(tasks, lambda task: task.final)
    facts = [f"consolidation: sampled models had {learned:.1f} % when each task was learned, and end at {final:.1f} %"]
    if (single := _average(tasks, lambda task: task.single)) is not None:
        facts.append(f"models: one sampled model scores {single:.1f} %, all of them together {final:.1f} %")
    samples, base = (
        _average(tasks, value) for value in (lambda task: task.final_diversity, lambda task: task.base_diversity)
    )
    if samples is not None and base is not None:
        facts.append(f"spread: two sampled models differ on {samples:.1f} % of inputs, two base models on {base:.1f} %")
    if old := _old(tasks):
        own, last = _average(old, lambda task: task.final), _average(old, lambda task: task.last)
        facts.append(f"replay: on earlier tasks the last one's models score {last:.1f} %, their own {own:.1f} %")
    return facts


def _average(tasks: Sequence[Knowledge], value: Callable[[Knowledge], float | None]) -> float | None:
    """Over tasks; None where it is not known of all."""
    measured = [value(task) for task in tasks]
    return mean([each for each in measured if each is not None]) if measured and None not in measured else None
