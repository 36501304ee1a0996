"""What the paper's recipe learns, an experiment for each claim of docs/paper.md: sampled models beside others, all treated alike.

    python experiments/recipe.py split-mnist --seeds 0 1 2
    python experiments/recipe.py split-mnist --reading code

The stream is learned by `merlin-paper`. After every task five kinds of models are asked, thirty of each, under the paper's view:

- decoded: sampled from the aggregated prior, not fine-tuned;
- sampled: the same, fine-tuned on the exemplars (the recipe);
- untrained: sampled from a VAE that has learned nothing, fine-tuned likewise;
- rescaled: sampled, each layer's weights brought to the size of a fresh network's, fine-tuned likewise;
- fresh: drawn as `torch.nn` draws networks, fine-tuned likewise.

Beside them: how far decoded weights are from those of the base models they stand for (zeros are at 1), and how well decoded
models of the task's own prior and its base models answer it, none fine-tuned. What is done already is not done again.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from merlin_cl.learners.merlin_paper.learner import MerlinPaper
from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank
from merlin_cl.paper.published import view_of
from merlin_cl.runs.parse_settings import changed
from merlin_cl.statefile import write_whole
from merlin_cl.streams.registry import stream_settings
from merlin_cl.streams.stream import Stream
from merlin_cl.tensors import as_float

KINDS = ("decoded", "sampled", "untrained", "rescaled", "fresh")
RESULTS = Path(__file__).parent / "results" / "recipe"
DIGITS = 4


def main(argv: Sequence[str] | None = None) -> None:
    """Learn the streams that have not been learned, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stream")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--reading", choices=["text", "code"], default="text")
    parser.add_argument("--tasks", type=int, help="only the first tasks")
    parser.add_argument("--set", dest="settings", type=json.loads, default={}, help="settings of the method, as JSON")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    for seed in options.seeds:
        path = options.out / f"{options.stream}-{options.reading}-s{seed}.json"
        if not path.exists():
            record = learned(options.stream, seed, options.tasks, {"reading": options.reading, **options.settings})
            write_whole(path, json.dumps(record, indent=1).encode() + b"\n")
        result = json.loads(path.read_text(encoding="utf-8"))
        means = {kind: sum(task["accuracy"][kind] for task in result["tasks"]) / len(result["tasks"]) for kind in KINDS}
        print(path.name, {kind: round(value, 2) for kind, value in means.items()}, flush=True)


def learned(name: str, seed: int, tasks: int | None, settings: dict[str, Any]) -> dict[str, Any]:
    """What is found on a stream, task by task."""
    made = changed(stream_settings(name)(), {} if tasks is None else {"tasks": tasks})
    stream = made.build(seed)
    method = changed(MerlinPaperSettings.preset("default", made.info()), settings)
    learner = method.build(stream.info, seed)
    assert isinstance(learner, MerlinPaper)
    records = []
    for k, task in enumerate(stream):
        learner.begin(task.info)
        for x, y in task.batches(10):
            learner.observe(x, y)
        learner.end()
        records.append(
            {
                "accuracy": {kind: _accuracy(learner, stream, bank, view_of(name)) for kind, bank in _banks(learner)},
                "own_task": _own_task(learner, stream, k),
                "relative_error": _errors(learner),
                "size": _sizes(learner),
                "negative_elbo": [
                    round(loss, DIGITS) for loss in learner.phases.losses["negative_elbo"][-method.vae_epochs :]
                ],
            }
        )
    return {
        "stream": name,
        "source": stream.source,
        "view": view_of(name),
        "seed": seed,
        "settings": method.record(),
        "tasks": records,
    }


def _banks(learner: MerlinPaper) -> Iterator[tuple[str, Bank]]:
    """Every kind of models, in the order of `KINDS`, fine-tuned but the first."""
    network, count, distribution = learner.network, learner.settings.models, learner.distribution
    prior = distribution.aggregate_prior()
    number = len(learner.tasks)
    decoded = distribution.sample(prior, count, learner.generator("recipe", "decoded", number))
    yield "decoded", Bank(network, decoded)
    yield "sampled", learner.ensemble()
    trained, distribution.vae = (
        distribution.vae,
        distribution.fresh_vae(learner.generator("recipe", "untrained", number)),
    )
    psi = distribution.sample(prior, count, learner.generator("recipe", "decoded", number))
    distribution.vae = trained
    yield "untrained", learner.fine_tuned(Bank(network, psi))
    fresh = network.initial(count, learner.generator("recipe", "fresh", number))
    yield "rescaled", learner.fine_tuned(Bank(network, _as_large(learner, decoded.clone(), fresh)))
    yield "fresh", learner.fine_tuned(Bank(network, fresh.clone()))


def _as_large(learner: MerlinPaper, psi: Tensor, like: Tensor) -> Tensor:
    """Models psi [M, P] with every layer's matrix as large, in root mean square, as those of other models are."""
    for name, view in learner.network.views(psi).items():
        if view.dim() > 2:
            sizes = [part.flatten(1).square().mean(dim=1).sqrt() for part in (view, learner.network.views(like)[name])]
            view *= (sizes[1].mean() / sizes[0]).view(-1, *[1] * (view.dim() - 1))
    return psi


@torch.inference_mode()
def _accuracy(learner: MerlinPaper, stream: Stream, bank: Bank, view: str) -> float:
    """In percent, the mean over the tasks seen."""
    hits = []
    for task in learner.tasks:
        x, y = stream[task.index].test()
        allowed = learner._allowed([task.classes if view == "task-masked" else learner.seen])
        answers = torch.cat(
            [vote(bank.logits(as_float(part)), allowed, learner.settings.vote)[0] for part in x.split(1000)]
        )
        hits.append(100 * float((answers.argmax(dim=-1) == y).double().mean()))
    return round(sum(hits) / len(hits), DIGITS)


def _own_task(learner: MerlinPaper, stream: Stream, k: int) -> dict[str, float]:
    """The task's own models, choosing among its classes: together, none of them fine-tuned; and what guessing gives."""
    figures = learner.probe(k, *stream[k].test())
    guessing = 100 / len(learner.tasks[k].classes)
    return {name: round(figures[name], DIGITS) for name in ("sampled_ensemble", "base_ensemble")} | {"chance": guessing}


def _errors(learner: MerlinPaper) -> dict[str, float]:
    """Distances from the base models of the task just learned, over their length, in root mean square.

    `reconstructed`: every chunk encoded and decoded; `sampled`: models drawn from the task's prior, beside the base models' mean.
    """
    assert learner._base is not None
    vae, psi = learner.distribution.vae, learner._base.psi
    chunks = learner.distribution.cut(psi)
    decoded = vae.decode(vae.encode(chunks).mean, torch.arange(chunks.shape[1]))
    drawn = learner.distribution.sample(
        learner.distribution.priors[-1],
        learner.settings.models,
        learner.generator("recipe", "drawn", len(learner.tasks)),
    )
    middle = psi.mean(dim=0)
    return {
        "reconstructed": round(float((decoded - chunks).norm() / chunks.norm()), DIGITS),
        "sampled": round(float((drawn.mean(dim=0) - middle).norm() / middle.norm()), DIGITS),
    }


def _sizes(learner: MerlinPaper) -> dict[str, float]:
    """The root mean square of the first layer's weights: decoded, of base models, and of fresh networks."""
    assert learner._base is not None
    generator = learner.generator("recipe", "sizes", len(learner.tasks))
    several = {
        "decoded": learner.distribution.sample(learner.distribution.priors[-1], learner.settings.models, generator),
        "base": learner._base.psi,
        "fresh": learner.network.initial(learner.settings.models, generator),
    }
    first = {name: next(iter(learner.network.views(psi).values())) for name, psi in several.items()}
    return {name: round(float(view.square().mean().sqrt()), 5) for name, view in first.items()}


if __name__ == "__main__":
    main()
