"""Write the figures of docs/method.md from what the runs of its study found.

python tools/method_page.py            # writes them between the page's two marks
python tools/method_page.py --check    # says whether they follow from the files
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from merlin_cl.metrics import mean, paired, standard_deviation
from merlin_cl.report.summary import Result, experiment_of, summarise

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "method.md"
FILES = ROOT / "studies" / "method"
PUBLISHED = ROOT / "results"
STREAMS = ("split-mnist", "permuted-mnist", "split-cifar10", "split-cifar100")
MARKS = ("<!-- figures: written by tools/method_page.py -->", "<!-- end of figures -->")
WORDS = {
    "averaging": "weights after the last batch, not their running mean",
    "replay": "no exemplars of earlier tasks for base models",
    "rehearse": "no exemplars of the own task for base models",
    "learning_rate": "half the learning rate",
    "start": "base models start from the task before (forward transfer)",
    "updates_per_batch": "one update a batch, not three",
    "base_models": "one base model, not ten",
    "precision": "bases not in 4 bits but",
    "summary": "mean of the base models, not the most central one",
    "latent": "three bases for five tasks",
    "classification_loss": "auxiliary classification loss",
    "aware_epochs": "task models fine-tuned on their exemplars",
    "vote": "vote",
    "exemplar_choice": "exemplars",
    "rank": "rank",
}


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

    def sampled(self) -> dict[int, float]:
        """By seed: accuracy of models sampled after the last task, not fine-tuned, on their own tasks, mean over tasks."""
        probes = {result["seed"]: result["diagnosis"]["final"] for result in self.results}
        return {seed: mean([task["sampled_ensemble"] for task in tasks]) for seed, tasks in probes.items() if tasks[0]}

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
        if "decoder" in self.changed:
            off = self.changed.get("consolidation") == "off"
            return "the paper's decoder of chunks" + (", consolidation off" if off else "")
        name, value = next((name, value) for name, value in self.changed.items() if name in WORDS)
        return f"{WORDS[name]} {value}" if name in ("vote", "exemplar_choice", "rank", "precision") else WORDS[name]


def fidelity(results: list[Result]) -> str:
    """What sampled models keep of a stream's tasks, a row a task: means over seeds, and the largest loss of a seed."""
    lines = [
        "| task | base models alone | together | sampled at once | sampled at the end | below the base ensemble | at worst |",
        "|---" * 7 + "|",
    ]
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
        lines.append(f"| {task + 1} | {' | '.join(f'{figure:.2f}' for figure in figures)} |")
    together = [mean([now["sampled_ensemble"] for now in result["diagnosis"]["final"]]) for result in results]
    lines.append(f"| mean | | | | {_figure(dict(enumerate(together)))} | {mean(losses):.2f} | |")
    return "\n".join(lines)


def published(stream: str) -> list[Result]:
    """The results of MERLIN's default on a stream."""
    found = (
        json.loads(path.read_text(encoding="utf-8"))["result"] for path in (PUBLISHED / stream).glob("*-merlin-*.json")
    )
    return sorted((one for one in found if one["preset"] == "default"), key=lambda one: int(one["seed"]))


def kept() -> str:
    """The tables of fidelity, stream by stream."""
    parts = ["### What sampled models keep of the tasks"]
    for stream in STREAMS:
        results = published(stream)
        seeds = ", ".join(str(result["seed"]) for result in results)
        command = f"`merlin run {stream} --seed N`, then `merlin diagnose`"
        parts += [f"{stream}, seeds {seeds}: {command}.", fidelity(results)]
    return "\n\n".join(parts)


def figures(results: list[Result]) -> str:
    """All tables of the study, as Markdown."""
    variants = list(_variants(results))
    merlin = [variant for variant in variants if variant.method == "merlin"]
    whole = next(variant for variant in merlin if not variant.changed)
    curve = [variant for variant in merlin if set(variant.changed) <= {"rank"}]
    parts = [variant for variant in merlin if variant not in curve or variant is whole]
    controls = [variant for variant in variants if variant.method != "merlin"]
    return "\n\n".join(
        [
            "### What each part is worth",
            _table(_dearest_first(parts), whole),
            "### Accuracy against stored bytes",
            _table(sorted(curve, key=lambda variant: variant.bytes_besides_exemplars), whole),
            "### The control with the same exemplars",
            _table(_dearest_first(controls), next(variant for variant in controls if not variant.changed)),
        ]
    )


def _dearest_first(variants: list[Variant]) -> list[Variant]:
    """The whole, then the variants from the worst on: what they lack or changed is worth most."""

    def accuracy(variant: Variant) -> float:
        inference = "marginal" if variant.method == "merlin" else None
        return mean(list(variant.scores("class-incremental", inference).values()))

    return sorted(variants, key=lambda variant: (bool(variant.changed), accuracy(variant)))


def _table(variants: list[Variant], reference: Variant) -> str:
    def columns(variant: Variant) -> list[tuple[str, dict[int, float]]]:
        if variant.method != "merlin":
            return [("class-incremental", variant.scores("class-incremental", None))]
        return [
            ("`marginal`", variant.scores("class-incremental", "marginal")),
            ("`aggregate`", variant.scores("class-incremental", "aggregate")),
            ("task-masked", variant.scores("task-masked", "marginal")),
            ("sampled", variant.sampled()),
        ]

    names = [name for name, _ in columns(variants[0])]
    lines = [f"| | {' | '.join(names)} | difference | seeds | stored |", "|---" * (len(names) + 4) + "|"]
    for variant in variants:
        found = columns(variant)
        outcome = paired(found[0][1], columns(reference)[0][1]) if variant is not reference else None
        difference = "" if outcome is None else f"{outcome.difference:+.2f}" + _doubt(outcome.p_value)
        kept = f"{variant.bytes_besides_exemplars / 1000:.0f} kB"
        cells = [variant.title, *(_figure(values) for _, values in found), difference, str(len(variant.results)), kept]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


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
        changed = {
            name: value for name, value in row.changed.items() if name != "models"
        }  # that is the study's, not a part
        yield Variant(row.method, changed, sorted(group, key=lambda result: int(result["seed"])))


def page(results: list[Result], old: str) -> str:
    """The page with its figures written anew."""
    before, rest = old.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    study = figures(results) if results else "The study has not been run: `make study`."
    return f"{before}{MARKS[0]}\n\n{kept()}\n\n{study}\n\n{MARKS[1]}{after}"


def read(files: Path = FILES) -> list[Result]:
    """What the runs found, those of a method together."""
    paths = sorted(files.glob("*/*.json"))
    return [json.loads(path.read_text(encoding="utf-8"))["result"] for path in paths]


def main() -> int:
    """Write or check the page; 1 if it does not follow from the files."""
    old = PAGE.read_text(encoding="utf-8")
    new = page(read(), old)
    if "--check" in sys.argv[1:]:
        print(
            "follows" if old == new else "docs/method.md does not follow from studies/method: run tools/method_page.py"
        )
        return int(old != new)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
