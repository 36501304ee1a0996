"""`merlin run --prequential`: a stream whose examples are asked about before they are learned."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merlin_cl.runs.config import RunConfig


def run_prequential(config: RunConfig, window: int, as_json: bool) -> None:
    """Learn a stream once, in memory, and print how well each task was answered at first sight."""
    from merlin_cl.learners.devices import usable_device
    from merlin_cl.metrics.prequential import RunningScore
    from merlin_cl.runs.description import described_stream
    from merlin_cl.runs.prequential import prequential
    from merlin_cl.runs.progress import display
    from merlin_cl.runs.run import threads

    usable_device(config.device)
    RunningScore(window)  # refuses what is no window before anything is read
    with display() as show, threads(config.threads):
        stream = described_stream(config, show)
        learner = config.method.build(stream.info, config.seed, config.device)
        tasks = len(stream)

        def listener(task: int, done: int, count: int, recent: float) -> None:
            show.update(f"task {task + 1}/{tasks}  {100 * recent:.1f} % right of late", done, count)

        overall, by_task = prequential(learner, stream, config.batch_size, window, listener)
    names = [task.info.name or str(task.info.index) for task in stream]
    rows = [{"task": name, **score.record()} for name, score in zip(names, by_task, strict=True)]
    whole = {"task": "all", **overall.record()}
    if as_json:
        told = {"stream": config.stream.title(config.data), "method": config.method.method, "seed": config.seed}
        print(json.dumps({**told, "window": window, **overall.record(), "tasks": rows, "curve": overall.curve}))
        return
    _print_table([*rows, whole])
    print(
        "Every batch was answered before it was learned; a class that nobody had taught yet counts as wrong.",
        file=sys.stderr,
    )


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from merlin_cl.report.text import console

    table = Table("task", *(_column(name) for name in ("examples", "right, %", "kappa", "log loss", "class met, %")))
    for row in rows:
        figures = [_shown(row["accuracy"], 100, 1), _shown(row["kappa"], 1, 3), _shown(row["log_loss"], 1, 3)]
        met = _shown(row["of_classes_met"] / row["examples"], 100, 1)
        table.add_row(str(row["task"]), f"{row['examples']:,}", *figures, met)
    console().print(table)


def _column(name: str) -> Any:
    from rich.table import Column

    return Column(name, justify="right")


def _shown(value: float | None, times: float, digits: int) -> str:
    return "–" if value is None else f"{times * value:.{digits}f}"
