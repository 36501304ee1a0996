"""Every method that suits frozen features, on images and texts in features, against the ceiling of learning all at once.

    python experiments/features.py split-cifar10 split-cifar100
    python experiments/features.py banking77 --texts FOLDER
    python experiments/features.py --page

Split CIFAR-10 and CIFAR-100 in the 1,280 features of EfficientNet-Lite0, 500 training images a task, the whole test set; the
customers' questions of Banking77 (Casanueva et al. 2020, CC BY 4.0; `banking_data/train.csv` and `test.csv` of the repository
PolyAI-LDN/task-specific-datasets, in FOLDER) in the 384 features of all-MiniLM-L6-v2, 77 kinds in eleven tasks of seven, in an
order that the seed draws. Settings are every method's own but for exemplars, the same for all that keep any, and for slda, which
sees features as they are and has a shrinkage chosen on training examples. A run that is on file is not computed again; --page
writes the table of docs/features.md.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from merlin_cl import Stream, run
from merlin_cl.errors import UsageError
from merlin_cl.learners.registry import method_settings
from merlin_cl.metrics import mean
from merlin_cl.statefile import write_whole
from merlin_cl.streams import stream_settings

METHODS = (
    *("joint", "slda", "klda", "ranpac", "simplecil", "icarl", "er", "er-ace", "der++", "gdumb"),
    *("gdumb-ensemble", "merlin", "single"),
)
OWN = {"slda": {"features": "inputs", "shrinkage": 0.1}}
"""The shrinkage is the best of 1e-4 to 0.5 for all three together, on a fifth of seed 0's training examples."""
EXEMPLARS = {"split-cifar10": 200, "split-cifar100": 1000, "banking77": 770}
TITLES = {"split-cifar10": "CIFAR-10", "split-cifar100": "CIFAR-100", "banking77": "Banking77"}
IMAGES = 500
RESULTS = Path(__file__).parent / "results" / "features"
PAGE = Path(__file__).parents[1] / "docs" / "features.md"
MARKS = ("<!-- table: experiments/features.py --page -->", "<!-- end of table -->")


def main(argv: Sequence[str] | None = None) -> None:
    """Compute what is missing, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("streams", nargs="*", choices=[*EXEMPLARS, []])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--texts", type=Path, help="the folder with train.csv and test.csv of Banking77")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    for seed in options.seeds:
        for name in options.streams:
            for method in options.methods:
                _compute(name, method, seed, options.texts)
    if options.page:
        PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")


def with_table(page: str) -> str:
    """The page with the table that follows from the results."""
    before, _, rest = page.partition(MARKS[0])
    return f"{before}{MARKS[0]}\n\n{table()}\n\n{MARKS[1]}{rest.partition(MARKS[1])[2]}"


def table() -> str:
    """Final accuracy by stream, methods by their mean place, and what they take."""
    records = {name: _on_file(name) for name in EXEMPLARS}
    known = [method for method in METHODS if any(_of(rows, method) for rows in records.values())]
    order = sorted(
        known, key=lambda method: (method != "joint", -mean([_accuracy(records[name], method) for name in records]))
    )
    lines = [
        f"| method | {' | '.join(f'{title} | kB | CPU-s' for title in TITLES.values())} |",
        f"|---|{'---|' * 3 * len(TITLES)}",
    ]
    for method in order:
        cells = []
        for rows in records.values():
            own = _of(rows, method)
            if not own:
                cells += ["", "", ""]
                continue
            spread = f" ({len(own)})" if len(own) < 3 else f" ± {_deviation([row['final'] for row in own]):.1f}"
            cells += [
                f"{mean([row['final'] for row in own]):.1f}{spread}",
                f"{mean([row['bytes'] for row in own]) / 1000:,.0f}",
                f"{mean([row['cpu_seconds'] for row in own]):.0f}",
            ]
        name = {"joint": "*joint* (all at once, 20 times)", "merlin": "**merlin**"}.get(method, method)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _accuracy(rows: list[dict[str, Any]], method: str) -> float:
    own = _of(rows, method)
    return mean([row["final"] for row in own]) if own else 0.0


def _deviation(values: list[float]) -> float:
    centre = mean(values)
    return float((sum((value - centre) ** 2 for value in values) / (len(values) - 1)) ** 0.5)


def _of(rows: list[dict[str, Any]], method: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["method"] == method]


def _on_file(name: str) -> list[dict[str, Any]]:
    file = RESULTS / f"{name}.json"
    rows: list[dict[str, Any]] = json.loads(file.read_text("utf-8")) if file.is_file() else []
    return rows


def _compute(name: str, method: str, seed: int, texts: Path | None) -> None:
    if any(row["method"] == method and row["seed"] == seed for row in _on_file(name)):
        return
    settings = dict(OWN.get(method, {}))
    if "exemplars" in method_settings(method).__dataclass_fields__:
        settings["exemplars"] = EXEMPLARS[name]
    outcome = run(_stream(name, seed, texts), method, settings=settings, seed=seed)
    learner = outcome.learner
    row = {
        "method": method,
        "seed": seed,
        "settings": settings,
        "final": round(outcome.final_accuracy, 3),
        "average_incremental": round(outcome.average_incremental_accuracy, 3),
        "bytes": sum(learner.stored_bytes().values()),
        "cpu_seconds": round(sum(learner.phases.cpu_seconds.values()), 2),
    }
    print(name, json.dumps(row), flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    rows = sorted([*_on_file(name), row], key=lambda one: (METHODS.index(one["method"]), one["seed"]))
    lines = ",\n ".join(json.dumps(one) for one in rows)
    write_whole(RESULTS / f"{name}.json", f"[{lines}]\n".encode())


def _stream(name: str, seed: int, texts: Path | None) -> Stream:
    if name != "banking77":
        return stream_settings(name)(images_per_task=IMAGES, features="efficientnet-lite0").build(seed)
    if texts is None:
        raise UsageError("--texts is missing; give the folder with train.csv and test.csv of Banking77.")
    return Stream.from_table(
        texts / "train.csv",
        "category",
        text="text",
        test=texts / "test.csv",
        tasks=11,
        class_order="shuffled",
        features="minilm",
        seed=seed,
        name=name,
    )


if __name__ == "__main__":
    main()
