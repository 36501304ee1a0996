"""The page of a stream in docs/results/: every row of every result file, what was reached of the paper, and how it was run.

Written by `tools/results_page.py`. Reasons that no file can know are in results/reasons.toml, by stream, method and inference.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merlin_cl.paper.experiment import experiment, view_for
from merlin_cl.paper.published import Published, first_tasks, headline, published
from merlin_cl.paper.verdict import reason, verdict
from merlin_cl.protocol import Inference
from merlin_cl.report.page.command import command_of
from merlin_cl.report.summary import Contest, Result, Row, contests, experiment_of, summarise
from merlin_cl.report.text import NONE, ends, parts, probability, signed
from merlin_cl.streams.registry import stream_names, stream_settings

A = "average_incremental_accuracy"
INTRODUCTION = """This page is written by `python tools/results_page.py` from the files under `results/`, each of which is what
one run found, with its settings, versions and revision. [All streams](README.md); [the scoreboard](../../RESULTS.md).

- **A** is the average incremental accuracy, the mean over k of the accuracy on tasks 1..k after task k, in percent; ± is the
  standard deviation over seeds (n - 1), in brackets the 95 % t-interval for the mean, where there are five seeds.
- **view**: class-incremental (choose among all classes seen), task-masked (among those of the example's own task),
  domain-incremental (all tasks share their classes). The paper's figure stands beside the view it was scored under, also where
  the data at hand have fewer images a task than the paper's; the row says so.
- **inference** `aware` is told the task; `aggregate` (the paper's way) and `marginal` (ours) are not.
- **mark**: *reproduced* where ours and the paper's differ by no more than the paper's ± or half of our interval, whichever is
  more; *exceeded* above that, *not reached* below, *not run* where there is no result file yet.
- `gdumb-ensemble` and `lookup` are controls: exemplars alone, and one compressed network a task."""
HEADINGS = ("method", "view", "inference", "ours, A", "seeds", "paper, A", "difference", "mark", "why", "run")
COMPARED = ("view", "method, inference", "run", "the best", "difference", "95 % interval", "p", "seeds")


@dataclass(frozen=True)
class Record:
    """A result file."""

    result: Result
    revision: str | None
    date: str | None


@dataclass(frozen=True)
class Asked:
    """A figure of the paper that is to be reached."""

    stream: str
    method: str
    inference: Inference | None
    paper: Published


def asked() -> list[Asked]:
    """The figures of the paper's main table and of its further methods and streams, and MERLIN's told the task."""
    found: dict[tuple[str, str, Inference | None], Asked] = {}
    for name in ("main", "variants", "cndpm-prior", "additional", "20-tasks"):
        for line in experiment(name).lines:
            for inference in line.inferences:
                for stream in experiment(name).streams:
                    paper = headline(line.method, stream, view_for(stream, inference), inference)
                    if paper is not None and stream not in line.skip:
                        found.setdefault((stream, line.method, inference), Asked(stream, line.method, inference, paper))
    return list(found.values())


MARKS = ("reproduced", "exceeded", "not reached", "not run")


def stream_pages(records: list[Record], reasons: dict[str, str]) -> dict[str, str]:
    """The page of every stream that the paper has a figure for, or that has a result file, as Markdown."""
    wanted = asked()
    streams = [*dict.fromkeys(one.stream for one in wanted)]
    streams += [name for name in stream_names() if name not in streams and _of(records, name)]
    return {stream: Section.of(stream, _of(records, stream), wanted, reasons).text for stream in streams}


def _of(records: list[Record], stream: str) -> list[Record]:
    return [record for record in records if record.result["stream"] == stream]


@dataclass(frozen=True)
class Section:
    """What the page says of a stream."""

    stream: str
    lines: list[tuple[str, ...]]
    runs: list[str]
    """How the experiments were run; lines refer to them by number."""
    outcomes: list[tuple[str, ...]]

    @classmethod
    def of(cls, stream: str, records: list[Record], wanted: list[Asked], reasons: dict[str, str]) -> "Section":
        """From the result files of the stream."""
        groups: dict[str, list[Record]] = {}
        for record in records:
            groups.setdefault(experiment_of(record.result), []).append(record)
        numbered = [
            (row, number)
            for number, group in enumerate(groups.values(), start=1)
            for row in summarise(record.result for record in group)
        ]
        rows = [row for row, _ in numbered]
        numbers = {id(row): number for row, number in numbered}
        lines = [_line(row, numbers[id(row)], reasons) for row in _sorted(rows)]
        lines += [_not_run(one, reasons) for one in wanted if one.stream == stream and not _is_there(one, rows)]
        runs = [_run(group) for group in groups.values()]
        return cls(stream, lines, runs, [_outcome(contest, numbers[id(contest.row)]) for contest in contests(rows)])

    @property
    def text(self) -> str:
        """As Markdown."""
        parts = [f"# {self.stream}", INTRODUCTION, table(HEADINGS, self.lines)]
        if self.runs:
            parts.append("\n".join(f"{number}. {run}" for number, run in enumerate(self.runs, start=1)))
        if self.outcomes:
            parts.append("Seed by seed beside the best of the same view (paired t-test, p by Holm over the table):")
            parts.append(table(COMPARED, self.outcomes))
        return "\n\n".join(parts) + "\n"


def _line(row: Row, run: int, reasons: dict[str, str]) -> tuple[str, ...]:
    paper, mean, width = paper_of(row), row.mean[A], row.half_width[A]
    assert mean is not None
    mark, why = NONE, "the paper has no figure for this"
    if paper is not None:
        mark, why = verdict(mean, width, paper), reason(mean, width, paper)
        said = reasons.get(_key(row.stream, row.method, row.inference, row.preset))
        why = f"{why}; {said}" if said else why
        why = f"{why}; {paper.where}" if "first" in paper.where else why
        why = f"{why}; with {fewer} images a task" if (fewer := _fewer_images(row)) else why
        why = f"{why}; {larger}" if (larger := _larger_network(row)) else why
    sure = row.interval(A)
    interval = "" if sure is None else f" [{sure[0]:.2f}, {sure[1]:.2f}]"
    deviation = "" if row.std[A] is None else f" ± {row.std[A]:.2f}"
    return (
        _named(row),
        row.view,
        row.inference or NONE,
        f"{mean:.2f}{deviation}{interval}",
        ", ".join(map(str, row.seeds)),
        NONE if paper is None else f"{paper.mean:g}" + ("" if paper.std is None else f" ± {paper.std:g}"),
        signed(None if paper is None else mean - paper.mean),
        mark,
        why,
        f"{run}",
    )


def _named(row: Row) -> str:
    """A method with what was set otherwise than by default."""
    preset = f" ({row.preset})" if row.preset != "default" else ""
    return f"`{row.method}`{preset}" + (f" {parts(row.changed)}" if row.changed else "")


def _not_run(one: Asked, reasons: dict[str, str]) -> tuple[str, ...]:
    why = (
        reasons.get(_key(one.stream, one.method, one.inference))
        or reasons.get(one.stream)
        or "no result file of the whole stream yet"
    )
    shown = f"{one.paper.mean:g} ± {one.paper.std:g}" if one.paper.std is not None else f"{one.paper.mean:g}"
    view = view_for(one.stream, one.inference)
    return (f"`{one.method}`", view, one.inference or NONE, NONE, NONE, shown, NONE, "not run", why, NONE)


def paper_of(row: Row) -> Published | None:
    """The paper's figure for a row, also where fewer images were learned; of the first tasks, the mean of its task-wise ones."""
    if row.paper is not None:
        return row.paper
    if _fewer_images(row):
        return headline(row.method, row.stream, row.view, row.inference)
    comparable = row.view == view_for(row.stream, row.inference) and row.inference != "aware"
    changed = changed_stream(row)
    if set(changed) == {"tasks"} and comparable:
        return first_tasks(row.method, row.stream, changed["tasks"])
    return None


def _fewer_images(row: Row) -> int | None:
    """The images a task, where they are fewer than the stream's and nothing else of it is changed."""
    changed = changed_stream(row)
    images = changed.get("images_per_task")
    fewer = set(changed) == {"images_per_task"} and images < stream_settings(row.stream)().record()["images_per_task"]
    return images if fewer else None


def _larger_network(row: Row) -> str | None:
    """Where the paper gives a rival a larger network than MERLIN's: that it does, and what it has with the same one."""
    same = published("small-backbone", row.method, row.stream, "A", backbone="small-resnet")
    if same is None or row.method == "merlin":
        return None
    said = "the paper's network is larger"
    return said if "tasks" in row.changed else f"{said}, with ours it has {same.mean:g} ± {same.std:g} ({same.where})"


def changed_stream(row: Row) -> dict[str, Any]:
    """What was set otherwise than the paper has the stream."""
    known = stream_settings(row.stream)().record()
    return {name: value for name, value in row.changed.items() if name in known}


def _is_there(one: Asked, rows: list[Row]) -> bool:
    return any((row.method, row.inference) == (one.method, one.inference) and paper_of(row) is not None for row in rows)


def _run(group: list[Record]) -> str:
    """How, when and with which code an experiment was computed."""
    row = summarise(record.result for record in group)[0]
    dates = sorted({record.date for record in group if record.date})
    revisions = sorted({record.revision[:10] if record.revision else "unknown" for record in group})
    when = f"on {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}" if dates else "on a day not recorded"
    return f"`{command_of(row)}`; {when}; revision {', '.join(revisions)}; data: {row.source}"


def _outcome(contest: Contest, run: int) -> tuple[str, ...]:
    outcome = contest.outcome
    called = [_named(row) + (f", {row.inference}" if row.inference else "") for row in (contest.row, contest.best)]
    shown = (
        signed(outcome.difference),
        ends(outcome.interval, signed),
        probability(outcome.p_value),
        str(outcome.seeds),
    )
    return (contest.row.view, called[0], str(run), called[1], *shown)


def _sorted(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.view, row.method != "merlin", row.method, row.preset))


def _key(stream: str, method: str, inference: str | None, preset: str = "default") -> str:
    return "/".join([stream, method, *([inference] if inference else []), *([preset] if preset != "default" else [])])


def table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """As Markdown."""
    lines = [f"| {' | '.join(cells)} |" for cells in (headings, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(headings), *lines[1:]])


def read_records(folder: Path) -> list[Record]:
    """All result files of streams."""
    found = []
    for file in sorted(folder.glob("*/*.json")):
        if file.parent.name in stream_names():
            content = json.loads(file.read_text("utf-8"))
            found.append(Record(content["result"], content["environment"]["git_revision"], content.get("date")))
    return found
