"""docs/method.md: what sampling, consolidation and each part are worth, from results/ and experiments/results/."""

import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.pages.markdown import NOTHING, ROOT, filled, table

from merlin_cl.metrics import holm, mean, paired, standard_deviation
from merlin_cl.report.summary import Result, experiment_of, summarise
from merlin_cl.report.text import nats
from merlin_cl.runs.calibration import final_figures
from merlin_cl.streams.registry import stream_names

EXPERIMENTS = ROOT / "experiments"
FILES = EXPERIMENTS / "results"
PUBLISHED = ROOT / "results"
STREAMS = ("split-mnist", "permuted-mnist", "split-cifar10", "split-cifar100")
WORDS = {
    "base_models": "base models a task:",
    "noise": "z not varied in updates",
    "replay": "no exemplars of earlier tasks for base models",
    "rehearse": "no exemplars of the own task for base models",
    "start": "base models start from psi_0, not from the task before",
    "updates_per_batch": "updates a batch:",
    "exemplar_choice": "exemplars",
    "latent": "numbers in z:",
    "consolidation": "consolidation",
    "models": "models that answer:",
    "memory": "memory, kB:",
}
PLAIN = ("noise", "replay", "rehearse", "start")
"""Settings whose words say what they were changed to."""


def pages() -> dict[str, str]:
    """Return the page."""
    study = read(FILES / "study")
    tables = {
        "kept": kept(),
        "sampling": sampling(),
        "consolidation": consolidation(),
        "updates": updates(),
        "class-means": class_means(),
    }
    return {"docs/method.md": filled("docs/method.md", {**tables, "parts": parts(study) if study else NOTHING})}


FIDELITY = (
    "task:",
    "base models alone:",
    "together:",
    "sampled at once:",
    "sampled at the end:",
    "below the base ensemble:",
    "at worst:",
)


@dataclass(frozen=True)
class Variant:
    """The runs with one set of settings, a seed each."""

    method: str
    changed: dict[str, object]
    results: list[Result]

    def scores(self, view: str, inference: str | None) -> dict[int, float]:
        """Average incremental accuracy by seed."""
        return {
            result["seed"]: score["average_incremental_accuracy"]
            for result in self.results
            for score in result["scores"]
            if (score["view"], score["inference"]) == (view, inference)
        }

    def likelihood(self, view: str, inference: str | None) -> list[float]:
        """Negative log-likelihood at the end, of the seeds that have it."""
        figures = [
            final_figures(score)
            for result in self.results
            for score in result["scores"]
            if (score["view"], score["inference"]) == (view, inference)
        ]
        return [value for of_seed in figures if (value := of_seed.get("nll")) is not None]

    @property
    def cpu_seconds(self) -> float:
        """Of a run."""
        return mean([float(sum(result["cost"]["cpu_seconds"].values())) for result in self.results])

    @property
    def bytes_besides_exemplars(self) -> float:
        """What is stored for the distribution."""
        kept = [result["cost"]["stored_bytes"] for result in self.results]
        return mean([float(sum(kinds.values()) - kinds["exemplars"]) for kinds in kept])

    @property
    def title(self) -> str:
        """What was changed, in words."""
        if not self.changed:
            return "**as it is**"
        return ", ".join(_in_words(name, value) for name, value in self.changed.items())


def _in_words(name: str, value: object) -> str:
    return WORDS[name] if name in PLAIN else f"{WORDS.get(name, name)} {value}"


def fidelity(results: list[Result]) -> str:
    """What sampled models keep of a stream's tasks, a row a task: means over seeds, and the largest loss of a seed."""
    rows: list[tuple[object, ...]] = []
    losses: list[float] = []
    for task in range(len(results[0]["diagnosis"]["final"])):
        learned, final = ([result["diagnosis"][when][task] for result in results] for when in ("learned", "final"))
        lost = [then["base_ensemble"] - now["sampled_ensemble"] for then, now in zip(learned, final, strict=True)]
        losses += lost
        figures = [
            *(mean([then[name] for then in learned]) for name in ("base_single", "base_ensemble", "sampled_ensemble")),
            mean([now["sampled_ensemble"] for now in final]),
            mean(lost),
            max(lost),
        ]
        rows.append((task + 1, *(f"{figure:.2f}" for figure in figures)))
    together = [mean([now["sampled_ensemble"] for now in result["diagnosis"]["final"]]) for result in results]
    rows.append(("mean", "", "", "", _figure(dict(enumerate(together))), f"{mean(losses):.2f}", ""))
    return table(FIDELITY, rows)


def published(stream: str) -> list[Result]:
    """Return the results of MERLIN's default on a stream, a seed each."""
    files = sorted((PUBLISHED / stream).glob("*-merlin-s*.json"))
    variants = list(_variants([json.loads(path.read_text("utf-8"))["result"] for path in files]))
    plain = [variant for variant in variants if variant.method == "merlin" and not variant.changed]
    return max((variant.results for variant in plain), key=len, default=[])


def kept() -> str:
    """The tables of fidelity, stream by stream."""
    parts = []
    for stream in STREAMS:
        if results := published(stream):
            seeds = ", ".join(str(result["seed"]) for result in results)
            command = f"`merlin run {stream} --seed N`, then `merlin diagnose`"
            parts += [f"{stream}, seeds {seeds}: {command}.", fidelity(results)]
    return "\n\n".join(parts) or NOTHING


def parts(results: list[Result]) -> str:
    """What each part is worth, as Markdown."""
    variants = list(_variants(results))
    merlin = [variant for variant in variants if variant.method == "merlin"]
    whole = next(variant for variant in merlin if not variant.changed)
    changed = sorted((variant for variant in merlin if variant.changed), key=lambda variant: _order(variant.changed))
    controls = [variant for variant in variants if variant.method != "merlin"]
    return _table([whole, *changed, *controls], whole)


def _order(changed: dict[str, object]) -> tuple[int, float]:
    name, value = next(iter(changed.items()))
    return list(WORDS).index(name) if name in WORDS else len(WORDS), float(value) if isinstance(value, int) else 0.0


def _table(variants: list[Variant], reference: Variant) -> str:
    def asked(variant: Variant) -> str | None:
        return None if variant.method == "gdumb-ensemble" else "marginal"

    rows = []
    beside = reference.scores("class-incremental", "marginal")
    outcomes = [
        None if variant is reference else paired(variant.scores("class-incremental", asked(variant)), beside)
        for variant in variants
    ]
    corrected = holm([outcome.p_value if outcome else None for outcome in outcomes])
    for variant, outcome, p_value in zip(variants, outcomes, corrected, strict=True):
        scores = variant.scores("class-incremental", asked(variant))
        cells = (
            variant.title if variant.method == "merlin" else f"`{variant.method}`",
            _figure(scores),
            "" if outcome is None else f"{outcome.difference:+.2f}" + _doubt(p_value),
            nats(mean(likelihood) if (likelihood := variant.likelihood("class-incremental", asked(variant))) else None),
            f"{mean(list(variant.scores('task-masked', asked(variant)).values())):.2f}",
            f"{variant.cpu_seconds:.0f} s",
            f"{variant.bytes_besides_exemplars / 1000:.0f} kB",
        )
        rows.append(cells)
    return table(("", "A:", "difference:", "NLL:", "task-masked:", "CPU:", "stored:"), rows)


def _figure(values: dict[int, float]) -> str:
    deviation = standard_deviation(list(values.values()))
    return f"{mean(list(values.values())):.2f}" + ("" if deviation is None else f" ± {deviation:.2f}")


def _doubt(p_value: float | None) -> str:
    return "" if p_value is None else f" (p {p_value:.2f})" if p_value >= 0.005 else " (p < 0.005)"


def _variants(results: list[Result]) -> Iterator[Variant]:
    """The runs by their settings."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(experiment_of(result), []).append(result)
    for group in groups.values():
        row = summarise(group)[0]
        yield Variant(row.method, dict(row.changed), sorted(group, key=lambda result: int(result["seed"])))


def sampling() -> str:
    """What more models are worth, stream by stream."""
    by_stream: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((FILES / "sampling").glob("*.json")):
        one = json.loads(path.read_text(encoding="utf-8"))
        by_stream.setdefault(one["stream"], []).append(one)
    tables = [_experiment("sampling").table(by_stream[stream]) for stream in stream_names() if stream in by_stream]
    return "\n\n".join(tables) or NOTHING


def updates() -> str:
    """What more updates a batch bring on photographs, all else being equal."""
    variants = {variant.results[0]["updates_per_batch"]: variant for variant in _variants(read(FILES / "updates"))}
    rows = [
        (
            count,
            _figure(variant.scores("class-incremental", "marginal")),
            _figure(variant.scores("task-masked", "marginal")),
            nats(mean(variant.likelihood("class-incremental", "marginal"))),
            f"{variant.cpu_seconds:.0f} s",
        )
        for count, variant in sorted(variants.items())
    ]
    return table(("updates a batch:", "A:", "task-masked:", "NLL:", "CPU:"), rows)


def class_means() -> str:
    """What class means have to say on vectors, a row a data set, and whether the means over all sets differ seed by seed."""
    path = FILES / "class_means.json"
    if not path.exists():
        return NOTHING
    cells: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    sets = dict.fromkeys(cell["set"] for cell in cells)
    rows = [(name, *_say([cell for cell in cells if cell["set"] == name])) for name in sets]
    rows.append(("**mean**", *_say(cells)))
    right = {say: _by_seed(cells, "test", say, 0) for say in ("nothing", "tasks", "classes")}
    told = [_compared(right["classes"], right[say], words) for say, words in SAYS.items()]
    tried = [
        f"{share}: {mean(_all_seeds(cells, share, 0)):.2f} ({mean(_all_seeds(cells, share, 1)):.3f})"
        for share in cells[0]["held_out"]
    ]
    headings = (
        "data set",
        "no say:",
        "of tasks:",
        "of classes, too:",
        "NLL, no say:",
        "NLL, of tasks:",
        "NLL, of classes, too:",
    )
    return f"{table(headings, rows)}\n\n{' '.join(told)} Held-out rows, by the share of classes: {', '.join(tried)}."


SAYS = {"tasks": "a say of tasks alone", "nothing": "none"}
"""What a say of classes is compared with, in words."""


def _say(cells: list[dict[str, Any]]) -> list[str]:
    """The figures of a row: percent right, then NLL."""
    return [
        f"{mean([cell['test'][say][place] for cell in cells]):{form}}"
        for place, form in ((0, ".1f"), (1, ".3f"))
        for say in ("nothing", "tasks", "classes")
    ]


def _by_seed(cells: list[dict[str, Any]], part: str, say: str, place: int) -> dict[int, float]:
    """The mean over data sets, by seed."""
    seeds = {cell["seed"] for cell in cells}
    return {seed: mean([cell[part][say][place] for cell in cells if cell["seed"] == seed]) for seed in sorted(seeds)}


def _all_seeds(cells: list[dict[str, Any]], share: str, place: int) -> list[float]:
    """A figure on held-out rows, by seed."""
    return list(_by_seed(cells, "held_out", share, place).values())


def _compared(first: dict[int, float], second: dict[int, float], words: str) -> str:
    """A sentence on the difference of two."""
    difference = paired(first, second)
    assert difference is not None
    p = "" if difference.p_value is None else f", p {difference.p_value:.1g}"
    gain = f"{difference.difference:+.2f} points in the mean of all sets"
    return f"A say of classes, too, beside {words}: {gain} ({difference.seeds} seeds{p})."


def consolidation() -> str:
    """What replay keeps, for every number of tasks and size of memory that was tried."""
    by_size: dict[tuple[int, int, int], list[dict[str, Any]]] = {}
    for path in sorted((FILES / "consolidation").glob("*.json")):
        one = json.loads(path.read_text(encoding="utf-8"))
        by_size.setdefault((one["tasks"], one["memory"], one["images_per_task"]), []).append(one)
    tables = [_experiment("consolidation").table(results) for _, results in sorted(by_size.items())]
    return "\n\n".join(tables) or NOTHING


def _experiment(name: str) -> Any:
    """The script of an experiment, as a module."""
    sys.path.insert(0, str(EXPERIMENTS))
    return importlib.import_module(name)


def read(files: Path) -> list[Result]:
    """What the runs found, those of a method together."""
    paths = sorted(files.glob("*/*.json"))
    return [json.loads(path.read_text(encoding="utf-8"))["result"] for path in paths]
