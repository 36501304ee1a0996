"""Every method with its defaults on data sets that a user might have: the tables of docs/choose.md.

    python experiments/panel.py                                     # all that is not there yet; about an hour of one core
    python experiments/panel.py --sets wine rare --methods merlin slda --seeds 0 1 2 --out somewhere
    python -m tools.pages                                           # writes the page from what was measured

A method is used as a user would: `ContinualClassifier(method)`, a `partial_fit` a task, `predict` at the end, raw columns. What
this panel decides (which method `auto` takes, what is a default) is decided on `held_out`; `test` is what is shown. Every set has
a file of results, written after every cell, so that the panel may be interrupted.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from panel_data import SETS, PanelSet, available

from merlin_cl import ContinualClassifier
from merlin_cl.errors import MerlinError
from merlin_cl.learners.registry import BUILT_IN
from merlin_cl.statefile import write_whole

RESULTS = Path(__file__).parent / "results" / "panel"
APART = ("merlin-paper",)
"""Methods that are measured only if they are named: the paper's recipe takes minutes a set, and is no advice."""
ANSWERS = 20
"""Single predictions that are timed, of which the median counts."""


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what has not been measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=available())
    parser.add_argument("--methods", nargs="+", default=[name for name in BUILT_IN if name not in APART])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument(
        "--settings", type=json.loads, default={}, help="settings of the methods, as JSON, to try them out"
    )
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.sets:
        path = options.out / f"{name}.json"
        done = json.loads(path.read_text("utf-8")) if path.exists() else []
        known = {(cell["method"], cell["seed"]) for cell in done}
        todo = [(method, seed) for seed in options.seeds for method in options.methods if (method, seed) not in known]
        data = SETS[name]() if todo else None
        for method, seed in todo:
            assert data is not None
            cell = {"method": method, "seed": seed, **measured(data, method, seed, options.settings)}
            done.append(cell)
            write_whole(path, _lines(done))
            print(f"{name:16} {method:18} {seed} {_told(cell)}", flush=True)


def measured(data: PanelSet, method: str, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """What a method does on a set: accuracies in percent, times of one thread, bytes kept. Or why it does nothing."""
    try:
        return _measured(data, method, seed, settings, announced=False)
    except MerlinError as refusal:
        try:  # a head that cannot grow
            return _measured(data, method, seed, settings, announced=True)
        except MerlinError:
            return {"refused": str(refusal)}


def _measured(data: PanelSet, method: str, seed: int, settings: dict[str, Any], announced: bool) -> dict[str, Any]:
    begun = time.process_time()
    model = learned(data, method, seed, settings, announced)
    ended = time.process_time()
    model.prepare()
    ready = time.process_time()
    test = data.test
    return {
        "test": _percent(model.predict(test.x) == test.y),
        "held_out": _percent(model.predict(data.held_out.x) == data.held_out.y),
        "ms_a_batch": round(1e4 * (ended - begun) / sum(len(task.y) for task in data.tasks), 3),  # ten examples
        "seconds_to_prepare": round(ready - ended, 3),
        "ms_a_prediction": round(1e3 * _median_time(model, test.x[:1]), 3),
        "bytes": sum(model.learner_.stored_bytes().values()),
        **({"chosen": model.learner_.settings.method} if method == "auto" else {}),
    }


def learned(
    data: PanelSet, method: str, seed: int, settings: dict[str, Any] | None = None, announced: bool = False
) -> ContinualClassifier:
    """A method that has learned a set, task by task; `announced`: it was told all classes beforehand."""
    model = ContinualClassifier(method, settings=settings or None, scenario=data.scenario, random_state=seed)
    for number, task in enumerate(data.tasks):
        order = np.random.default_rng(seed + number).permutation(len(task.y))
        classes = data.classes if announced and not number else None
        model.partial_fit(task.x[order], task.y[order], task=number, classes=classes)
    return model.end_task()


def _median_time(model: ContinualClassifier, x: Any) -> float:
    """CPU seconds that one prediction takes once everything is ready."""
    times = []
    for _ in range(ANSWERS):
        begun = time.process_time()
        model.predict(x)
        times.append(time.process_time() - begun)
    return float(np.median(times))


def _percent(right: Any) -> float:
    return round(100 * float(np.mean(right)), 2)


def _lines(cells: list[dict[str, Any]]) -> bytes:
    """A cell a line, so that a difference can be read."""
    return ("[\n" + ",\n".join(json.dumps(cell) for cell in cells) + "\n]\n").encode()


def _told(cell: dict[str, Any]) -> str:
    if "refused" in cell:
        return f"refused: {cell['refused']}"
    return f"{cell['test']:6.2f} {cell['held_out']:6.2f}  {cell['ms_a_batch']:8.1f} ms a batch"


if __name__ == "__main__":
    main()
