"""Which runs of the published tables have no result file under results/ yet, and what they would cost; computes them, too.

    # Lists them, the cheapest first: all, or those that RESULTS.md shows
    python experiments/missing.py
    python experiments/missing.py --tables main variants 20-tasks additional small-backbone cndpm-prior
    # Computes them, two at once; killed and started again, it goes on
    python experiments/missing.py --run --workers 2 --data DIR
    python tools/collect_results.py runs/missing/*

Asked for are the rows of the paper's tables and of the grids in this folder. CPU-minutes are those of the nearest run that is on
file, scaled by the work in each, and machines differ: take them for a plan.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from merlin_cl.cli.grid import EngineOptions, compute
from merlin_cl.commands import merlin, option
from merlin_cl.errors import MerlinError
from merlin_cl.paper.experiment import experiment, experiment_names
from merlin_cl.paper.trials import TrialOptions, trials
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.cost import Costs
from merlin_cl.runs.grid_file import read_grid
from merlin_cl.runs.jobs import Job
from merlin_cl.runs.parse_settings import changed
from merlin_cl.streams.registry import stream_names

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
GRIDS = ("figures", "rivals-*", "photographs-*")
SEEDS = {"split-mnist": 5, "permuted-mnist": 5, "split-cifar10": 3}
"""Of the paper's tables; one elsewhere."""
AT_HAND: dict[str, dict[str, Any]] = {
    "heterogeneous": {
        "datasets": [
            "cifar10",
            "cifar100",
            "fashion-mnist",
            "notmnist",
            "mnist",
            "svhn",
            "gtsrb",
        ]  # FaceScrub is nowhere
    },
    "audio-mnist": {"images_per_task": 480},  # five takes of fifty
    "split-miniimagenet-20": {"images_per_task": 1250},  # 250 images a class
}
"""What there is of streams whose data are not whole."""
BEFORE = {"augmentation": "none"}
"""What runs had that were made before there was a choice."""

Result = dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """A run, and the answers that a table shows of it."""

    config: RunConfig
    inferences: frozenset[str | None]

    def in_result(self, result: Result) -> bool:
        """Whether a result is that of this run, settings that it knows nothing of aside, and has its answers."""
        mine, its = self.config.record(), result["settings"]
        same = all(
            BEFORE.get(name, value) == value if name not in its[part] else its[part][name] == _plain(value)
            for part in ("stream", "method")
            for name, value in mine[part].items()
        )
        answers = {score["inference"] for score in result["scores"]}
        return same and result["seed"] == self.config.seed and (None in self.inferences or self.inferences <= answers)


def main() -> None:
    """List what is missing, or compute it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("streams", nargs="*", help="only these")
    parser.add_argument("--methods", nargs="+", default=[], help="only these")
    parser.add_argument(
        "--tables", nargs="*", metavar="NAME", help="only what the paper's tables ask for, or these of them"
    )
    parser.add_argument("--run", action="store_true", help="compute them, the cheapest first")
    parser.add_argument("--minutes", type=float, help="only runs that are expected to take no longer")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--data", help="the folder with data sets")
    parser.add_argument("--out", type=Path, default=Path("runs/missing"))
    options = parser.parse_args()
    for name in options.streams:
        if name not in stream_names():
            parser.error(f"there is no stream {name!r}; there are {', '.join(stream_names())}.")
    try:
        list_or_compute(options)
    except MerlinError as error:
        parser.error(str(error))


def list_or_compute(options: argparse.Namespace) -> None:
    """Do what the command line asks for."""
    results = list(read_results())
    every = [*of_tables(), *of_grids()] if options.tables is None else of_tables(options.tables)
    costed = sorted(expected(missing(every, results), results), key=lambda pair: pair[1])
    chosen = [
        (config, minutes)
        for config, minutes in costed
        if config.stream.stream in (options.streams or [config.stream.stream])
        and config.method.method in (options.methods or [config.method.method])
        and minutes <= (options.minutes or minutes)
    ]
    for config, minutes in chosen:
        print(f"{minutes:7.1f} min  {in_words(config)}")
    print(f"{sum(minutes for _, minutes in chosen):7.1f} CPU-minutes, {len(chosen)} runs")
    if options.run and chosen:
        data = None if options.data is None else str(Path(options.data).resolve())
        configs = [replace(config, data=data) for config, _ in chosen]
        compute(configs, options.out, EngineOptions(workers=options.workers), retries=0)


def read_results() -> Iterator[Result]:
    """What runs of streams have come to."""
    for name in stream_names():
        for path in sorted((RESULTS / name).glob("*.json")):
            yield json.loads(path.read_text("utf-8"))["result"]


def of_tables(names: Sequence[str] = ()) -> Iterator[Wanted]:
    """The runs of the paper's tables, or of some of them, as far as there are data."""
    for name in names or experiment_names():
        table = experiment(name)
        if table.kind != "scores":
            continue
        for stream in table.streams:
            for trial in trials(table, TrialOptions(seeds=SEEDS.get(stream, 1), streams=(stream,))):
                for config in trial.configs:
                    settings = changed(config.stream, AT_HAND.get(stream, {}))
                    yield Wanted(replace(config, stream=settings), frozenset(trial.line.inferences))


def of_grids() -> Iterator[Wanted]:
    """The runs of the grids in this folder whose results stand under results/."""
    for pattern in GRIDS:
        for path in sorted(HERE.glob(f"{pattern}.toml")):
            yield from (Wanted(config, frozenset([None])) for config in read_grid(path).configs)


def missing(wanted: Iterable[Wanted], results: list[Result]) -> list[RunConfig]:
    """The runs that have no result, each once; one that lacks a single way to answer is asked for that alone."""
    known: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        known.setdefault((result["stream"], result["method"]), []).append(result)
    lacking: dict[str, tuple[RunConfig, set[str | None]]] = {}
    for config, inference in ((run.config, inference) for run in wanted for inference in run.inferences):
        alike = known.get((config.stream.stream, config.method.method), [])
        if not any(Wanted(config, frozenset([inference])).in_result(result) for result in alike):
            lacking.setdefault(Job(replace(config, inference="all")).identity, (config, set()))[1].add(inference)
    return [
        replace(config, inference="all" if len(answers) > 1 else next(iter(answers)) or "all")
        for config, answers in lacking.values()
    ]


def expected(configs: list[RunConfig], results: list[Result]) -> list[tuple[RunConfig, float]]:
    """Runs with the CPU-minutes that they are expected to take."""
    costs = Costs()
    for result in results:
        record = {field: result.get(field, result["settings"].get(field)) for field in RunConfig.__dataclass_fields__}
        try:
            config = RunConfig.from_record({**record, **result["settings"], "data": None, "place": ""})
        except (MerlinError, KeyError):  # settings that are no longer
            continue
        costs.add(Job(config), sum(result["cost"]["cpu_seconds"].values()))
    return [(config, (costs.expected(Job(config)) or 0.0) / 60) for config in configs]


def in_words(config: RunConfig) -> str:
    """The command that makes the run."""
    usual = type(config.stream)().record() | config.method.preset("default", config.stream.info()).record()
    settings = config.stream.record() | config.method.record() | {"inference": config.inference}
    usual["inference"] = "all"
    options = [word for name, value in settings.items() if value != usual[name] for word in option(name, _plain(value))]
    return merlin("run", config.stream.stream, "--method", config.method.method, "--seed", config.seed, *options)


def _plain(value: Any) -> Any:
    """As it is in a file."""
    return list(value) if isinstance(value, tuple) else value


if __name__ == "__main__":
    main()
