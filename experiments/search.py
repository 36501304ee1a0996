"""Searches the settings of every method on a benchmark of photographs, with as many trials for each.

    python experiments/search.py split-cifar10 --data DIR
    # Ships what they chose: it becomes the methods' default on that stream
    python experiments/search.py split-cifar10 --data DIR --ship

A trial learns the first three tasks, 600 images each, of one seed. Methods that sum up features and learn none take all tasks but
the last, 2,000 images each, a minute a trial at most, as short searches mislead them (docs/rivals.md); simplecil of three seeds.
Methods whose search ships with the package are passed over unless they are named. A search that was interrupted goes on.
"""

import argparse
import shutil
from pathlib import Path
from typing import Any

from merlin_cl.errors import MerlinError
from merlin_cl.learners import tuned
from merlin_cl.learners.registry import method_settings
from merlin_cl.learners.tuned import search_record
from merlin_cl.runs.grid_file import read_grid
from merlin_cl.runs.progress import display
from merlin_cl.streams.registry import stream_settings
from merlin_cl.tuning.plan import Plan
from merlin_cl.tuning.trials import StudyFolder

HERE = Path(__file__).parent
STREAMS = {
    "split-cifar10": "photographs-cifar10",
    "split-cifar100": "photographs-cifar100",
    "split-miniimagenet": "photographs-miniimagenet",
}
"""The grid whose methods are searched."""
TRIALS = 6
SEEDS = {"simplecil": (100, 101, 102)}
"""Of every trial, where not just one, 100: what simplecil's features are worth hangs on what its first task happens to teach."""
SHORT = {"tasks": 3, "images_per_task": 600}
SUMMED_UP = ("slda", "klda", "ranpac", "simplecil")
"""Methods whose trials are long."""


def main() -> None:
    """Search, or ship what searches chose."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stream", choices=STREAMS)
    parser.add_argument("--methods", nargs="+", default=[], help="only these")
    parser.add_argument("--data", help="the folder with data sets")
    parser.add_argument("--out", type=Path, default=Path("tuning"))
    parser.add_argument("--ship", action="store_true", help="copy what finished searches chose into the package")
    options = parser.parse_args()
    try:
        every = plans(options.stream, options.data)
        searched = [plan.method.method for plan in every]
        for name in options.methods:
            if name not in searched:
                parser.error(
                    f"there is nothing to search for {name!r} on {options.stream}; there is for {', '.join(searched)}."
                )
        for plan in every:
            method = plan.method.method
            if method not in (options.methods or [method]):
                continue
            if options.ship:
                ship(StudyFolder(options.out, plan))
            elif method in options.methods or search_record(method, options.stream) is None:
                compute(plan, options.out)
    except MerlinError as error:
        parser.error(str(error))


def plans(stream: str, data: str | None) -> list[Plan]:
    """A search for each method of the stream's grid that has settings left to search."""
    methods = dict.fromkeys(config.method.method for config in read_grid(HERE / f"{STREAMS[stream]}.toml").configs)
    made = []
    for method in methods:
        kind: Any = stream_settings(stream)
        size = {"tasks": kind.tasks - 1, "images_per_task": 2000} if method in SUMMED_UP else SHORT
        settings = kind(evaluation="held-out", **size)
        if method_settings(method).space:
            made.append(Plan(method_settings(method), settings, SEEDS.get(method, (100,)), data=data))
    return made


def compute(plan: Plan, root: Path) -> None:
    """One search, on from where it is."""
    from merlin_cl.tuning.search import search

    print(f"{plan.method.method} on held-out images of {plan.title}", flush=True)
    with display() as show:
        search(plan, root, TRIALS, show)


def ship(folder: StudyFolder) -> None:
    """Copy what a search chose to where the package looks for it."""
    if len(folder.trials()) < TRIALS or not folder.chosen.exists():
        print(f"not finished: {folder.path}")
        return
    (package,) = tuned.__path__
    print(shutil.copy(folder.chosen, package))


if __name__ == "__main__":
    main()
