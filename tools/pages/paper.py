"""docs/paper.md: what came of the recipe, from experiments/results/recipe/ and results/, with its figures."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tools.pages.markdown import NOTHING, ROOT, filled, table
from tools.pages.paper_figures import as_svg, decoder_figure, models_figure
from tools.pages.records import paper_figure

from merlin_cl.metrics import half_width, holm, mean, paired, standard_deviation
from merlin_cl.paper.cells import SCORES, score_of
from merlin_cl.paper.experiment import Experiment, Line, experiment, view_for
from merlin_cl.paper.published import published
from merlin_cl.paper.trials import TrialOptions, trials
from merlin_cl.paper.verdict import verdict
from merlin_cl.report.text import NONE, signed, stream_title

RECIPE, RESULTS = ROOT / "experiments" / "results" / "recipe", ROOT / "results"
KINDS = {
    "decoded": "decoded, not fine-tuned",
    "untrained": "untrained VAE",
    "sampled": "the recipe",
    "rescaled": "rescaled",
    "fresh": "fresh networks",
}
STREAMS, READINGS = experiment("main").streams, ("text", "code")
ABLATIONS = ("variants", "cndpm-prior", "ensemble", "chunk", "clf-loss", "memory")

RecipeRecord = dict[str, Any]


def pages() -> dict[str, str]:
    """Return the page and its figures."""
    groups = recipes()
    tables = {"decoder": decoder(groups), "models": models(groups), "ablations": ablations(recipe_results())}
    texts = {"docs/paper.md": filled("docs/paper.md", tables)}
    if groups:
        texts["docs/images/paper-decoder.svg"] = as_svg(decoder_figure(groups), "paper-decoder")
        texts["docs/images/paper-models.svg"] = as_svg(models_figure(groups, KINDS), "paper-models")
    return texts


def recipes(folder: Path = RECIPE) -> dict[tuple[str, str], list[RecipeRecord]]:
    """What was found, by stream and reading, a seed each; streams in the paper's order, its text before its code."""
    groups: dict[tuple[str, str], list[RecipeRecord]] = {}
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text("utf-8"))
        groups.setdefault((record["stream"], record["settings"]["reading"]), []).append(record)
    order = {key: (STREAMS.index(key[0]), READINGS.index(key[1])) for key in groups}
    return {key: groups[key] for key in sorted(groups, key=order.__getitem__)}


def over_tasks(records: list[RecipeRecord], part: str, name: str, task: int | None = None) -> list[float]:
    """A measure of each seed: the mean over tasks, or of one task."""
    tasks = [one["tasks"] if task is None else [one["tasks"][task]] for one in records]
    return [mean([each[part][name] for each in listed]) for listed in tasks]


def decoder(groups: dict[tuple[str, str], list[RecipeRecord]]) -> str:
    """Whether the decoder learns, as Markdown."""
    headings = (
        *("stream, reading", "seeds", "error: encoded", "error: sampled", "first layer"),
        *("own task: decoded", "base models", "guessing"),
    )
    rows = []
    for key, records in groups.items():
        ends = [
            " to ".join(f"{mean(over_tasks(records, 'relative_error', name, task)):.2f}" for task in (0, -1))
            for name in ("reconstructed", "sampled")
        ]
        sizes = " / ".join(f"{mean(over_tasks(records, 'size', name)):.3f}" for name in ("decoded", "base", "fresh"))
        own = [_figure(over_tasks(records, "own_task", name)) for name in ("sampled_ensemble", "base_ensemble")]
        guessing = f"{over_tasks(records, 'own_task', 'chance')[0]:.0f}"
        rows.append((_named(key), _seeds(records), *ends, sizes, *own, guessing))
    return table(headings, rows) if rows else NOTHING


def models(groups: dict[tuple[str, str], list[RecipeRecord]]) -> str:
    """What each kind of models answers, as Markdown."""
    rows = []
    for key, records in groups.items():
        paper = published("main", "merlin", key[0], "A")
        cells = [_figure(over_tasks(records, "accuracy", kind)) for kind in KINDS]
        rows.append(
            (_named(key), _seeds(records), *cells, NONE if paper is None else f"{paper.mean:g} ± {paper.std:g}")
        )
    if not rows:
        return NOTHING
    answers = table(("stream, reading", "seeds", *KINDS.values(), "paper's MERLIN"), rows)
    return f"{answers}\n\nThe recipe against the others, paired over seeds:\n\n{_against(groups)}"


def _against(groups: dict[tuple[str, str], list[RecipeRecord]]) -> str:
    """What the recipe gains over every other kind of models, with p-values corrected over the table."""
    others = [kind for kind in KINDS if kind not in ("sampled", "decoded")]
    cells = [
        (_named(key), kind, paired(_by_seed(records, "sampled"), _by_seed(records, kind)))
        for key, records in groups.items()
        for kind in others
    ]
    corrected = holm([outcome and outcome.p_value for *_, outcome in cells])
    rows = [
        (named, KINDS[kind], signed(outcome.difference), NONE if p_value is None else f"{p_value:.2g}")
        for (named, kind, outcome), p_value in zip(cells, corrected, strict=True)
        if outcome is not None
    ]
    return table(("stream, reading", "against", "the recipe gains", "p (Holm)"), rows)


def _named(key: tuple[str, str]) -> str:
    """A stream and a reading."""
    return f"{stream_title(key[0])}, {key[1]}"


def _by_seed(records: list[RecipeRecord], kind: str) -> dict[int, float]:
    return {one["seed"]: value for one, value in zip(records, over_tasks(records, "accuracy", kind), strict=True)}


def ablations(results: list[RecipeRecord]) -> str:
    """The paper's ablations beside ours, as Markdown."""
    rows = [row for name in ABLATIONS for row in _rows(experiment(name), results)]
    headings = ("table", "stream", "row", "paper", "ours", "seeds", "difference", "mark")
    return table(headings, rows) if rows else NOTHING


def _rows(chosen: Experiment, results: list[RecipeRecord]) -> Iterable[tuple[str, ...]]:
    for trial in trials(chosen, TrialOptions(seeds=1, methods=("merlin-paper",))):
        stream, (wanted,) = trial.stream.stream, trial.configs
        record = json.loads(json.dumps(wanted.record()))
        alike = [
            one
            for one in results
            if (one["settings"]["stream"], one["settings"]["method"]) == (record["stream"], record["method"])
        ]
        for inference in trial.line.inferences:
            values = dict(_scores(alike, stream, inference))
            if values:
                yield _row(chosen, trial.line, stream, list(values.values()))


def _scores(results: list[RecipeRecord], stream: str, inference: Any) -> Iterable[tuple[int, float]]:
    view = view_for(stream, inference)
    for one in results:
        if any((score["view"], score["inference"]) == (view, inference) for score in one["scores"]):
            yield one["seed"], score_of(one, view, inference)[SCORES["A"]]


def _row(chosen: Experiment, line: Line, stream: str, values: list[float]) -> tuple[str, ...]:
    paper, middle = chosen.published(line, stream, "A"), mean(values)
    told = (NONE, NONE, NONE)
    if paper is not None:
        told = (paper_figure(paper), signed(middle - paper.mean), verdict(middle, half_width(values), paper))
    where, row = chosen.where.rpartition(", ")[2], line.title.removeprefix("merlin-paper, ")
    return (where, stream_title(stream), row, told[0], _figure(values), str(len(values)), *told[1:])


def _figure(values: list[float]) -> str:
    deviation = standard_deviation(values)
    return f"{mean(values):.1f}" + ("" if deviation is None else f" ± {deviation:.1f}")


def _seeds(records: list[RecipeRecord]) -> str:
    return str(len(records))


def recipe_results(folder: Path = RESULTS) -> list[RecipeRecord]:
    """The result files of `merlin-paper`."""
    return [json.loads(path.read_text("utf-8"))["result"] for path in sorted(folder.glob("*/*-merlin-paper-s*.json"))]
