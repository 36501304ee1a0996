"""What sampling is worth: 1, 3, 10, 30 and 100 models drawn from the distributions of finished runs, with and without spread.

    merlin grid experiments/figures.toml --out runs/figures
    python experiments/sampling.py runs/figures/*-merlin-*

Nothing is learned here: every learner is the one that its run left behind. With spread, components are drawn and then z from
each; without, z is the component's mean, so that there are no more different models than components. Test images of all tasks, at
most 2,000 in all; accuracy (%), negative log-likelihood (nats) and expected calibration error (%) of `marginal` answers. Whether
more models than one are better is asked of the seeds (paired t-test) where there are five, and otherwise of the images: how many
only the one model answers rightly, and how many only the others (McNemar's test).
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from consolidation import gain
from torch import Tensor

from merlin_cl.learners.learner import Learner
from merlin_cl.learners.merlin.distribution import TaskPrior
from merlin_cl.learners.merlin.learner import Merlin
from merlin_cl.learners.saving.saved import SavedLearner
from merlin_cl.metrics import mcnemar, mean, paired
from merlin_cl.metrics.uncertainty import expected_calibration_error, negative_log_likelihood
from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.model_file import path_of_model
from merlin_cl.statefile import write_whole
from merlin_cl.streams.stream import Stream

MODELS = (1, 3, 10, 30, 100)
IMAGES = 2000
RESULTS = Path(__file__).parent / "results" / "sampling"


def main(argv: Sequence[str] | None = None) -> None:
    """Ask the learners that have not been asked, and print a table a stream."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--models", type=int, nargs="+", default=MODELS)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    by_stream: dict[str, list[dict[str, Any]]] = {}
    for run in options.runs:
        path = options.out / f"{run.name}.json"
        if not path.exists():
            write_whole(path, json.dumps(asked(run, options.models), indent=1).encode() + b"\n")
        result = json.loads(path.read_text(encoding="utf-8"))
        by_stream.setdefault(result["stream"], []).append(result)
    for results in by_stream.values():
        print(table(results), end="\n\n", flush=True)


def asked(run: Path, models: Sequence[int]) -> dict[str, Any]:
    """What the learner of a run answers with so many models."""
    config = RunFolder.open(run).config()
    stream = config.build_stream()
    learner = SavedLearner.load(path_of_model(run)).learner
    assert isinstance(learner, Merlin)
    rows = [row for spread in (True, False) for row in _rows(learner, stream, models, spread)]
    return {"stream": config.stream.stream, "seed": config.seed, "settings": config.method.record(), "rows": rows}


def _rows(learner: Merlin, stream: Stream, models: Sequence[int], spread: bool) -> Iterator[dict[str, Any]]:
    if not spread:
        for j, prior in enumerate(learner.distribution.priors):
            if isinstance(prior, TaskPrior):
                learner.distribution.priors[j] = replace(prior, spreads=torch.zeros_like(prior.spreads))
    of_one: Tensor | None = None
    for count in models:
        learner.prepare(count)
        learner.resample()
        scores, right = _scores(learner, stream)
        of_one = right if of_one is None else of_one
        changes = {"gained": int((right & ~of_one).sum()), "lost": int((of_one & ~right).sum())}
        yield {"models": count, "spread": spread, **scores, **changes}


@torch.inference_mode()
def _scores(learner: Learner[Any], stream: Stream) -> tuple[dict[str, float], Tensor]:
    """Figures of the answers, and which of them are right, bool [images]."""
    parts = [[part[: IMAGES // len(stream)] for part in task.test()] for task in stream]
    probabilities = torch.cat([learner.logits(x, inference="marginal").softmax(dim=-1) for x, _ in parts])
    labels = torch.cat([y for _, y in parts])
    confidence, choice = probabilities.max(dim=-1)
    right = choice == labels
    return {
        "accuracy": round(100 * float(right.double().mean()), 4),
        "nll": round(negative_log_likelihood(probabilities, labels), 4),
        "ece": round(100 * expected_calibration_error(confidence, right), 4),
    }, right


def table(results: list[dict[str, Any]]) -> str:
    """Means over seeds; accuracy and its gain over one model, paired, as Markdown."""
    rows = results[0]["rows"]
    seeds = ", ".join(str(result["seed"]) for result in results)
    lines = [
        f"{results[0]['stream']}, seeds {seeds}:",
        "",
        "| models | accuracy | NLL | ECE | gain over one | without spread: accuracy | NLL | ECE |",
        "|---" * 8 + "|",
    ]
    for at, row in enumerate(rows):
        if not row["spread"]:
            continue
        means_only = next(i for i, other in enumerate(rows) if not other["spread"] and other["models"] == row["models"])
        cells = [str(row["models"]), *_figures(results, at), _gain(results, at) if at else ""]
        lines.append(f"| {' | '.join([*cells, *_figures(results, means_only)])} |")
    return "\n".join(lines)


def _gain(results: list[dict[str, Any]], at: int) -> str:
    """By how much so many models are better than one, and how likely chance makes them so, over seeds or over images."""
    outcome = paired(_accuracies(results, at), _accuracies(results, 0))
    assert outcome is not None
    changes = [
        (result["rows"][at]["gained"], result["rows"][at]["lost"])
        for result in results
        if "gained" in result["rows"][at]
    ]
    if outcome.p_value is not None or len(changes) < len(results):
        return gain(outcome)
    return f"{outcome.difference:+.2f} (p {mcnemar(*map(sum, zip(*changes, strict=True))):.2g}, images)"


def _accuracies(results: list[dict[str, Any]], at: int) -> dict[int, float]:
    return {result["seed"]: result["rows"][at]["accuracy"] for result in results}


def _figures(results: list[dict[str, Any]], at: int) -> list[str]:
    means = {name: mean([result["rows"][at][name] for result in results]) for name in ("accuracy", "nll", "ece")}
    return [f"{means['accuracy']:.2f}", f"{means['nll']:.3f}", f"{means['ece']:.2f}"]


if __name__ == "__main__":
    main()
