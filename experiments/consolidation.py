"""What consolidation by replay keeps of old tasks, against plain cutting and against dropping the oldest, in the same bytes.

    python experiments/consolidation.py --tasks 60 --seeds 5 --data DIR                 # about six minutes of a core a seed
    python experiments/consolidation.py --tasks 20 --memory 90 --seeds 5 --data DIR

Permuted MNIST, whose number of tasks nobody announces. Base models start from psi_0 and replay exemplars only, so they are the
same whatever becomes of the priors: one pass feeds three distributions, which differ in their consolidation and in nothing else.
`learned` is the accuracy of a task's own models right after it was learned, `final` after the last task, `marginal` the answer
without being told the task; 300 test images a task. Every seed is a file of its own, and what is there is not run again.
"""

import argparse
import copy
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from merlin_cl.learners.merlin.consolidation import consolidate
from merlin_cl.learners.merlin.distribution import WeightDistribution
from merlin_cl.learners.merlin.learner import Merlin
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.registry import method_settings
from merlin_cl.metrics import Comparison, mean, paired
from merlin_cl.statefile import write_whole
from merlin_cl.streams.registry import stream_settings
from merlin_cl.streams.settings import DrawnSettings
from merlin_cl.streams.stream import Stream

WAYS = ("replay", "cut", "oldest")
FIRST = 10
"""Old tasks that are looked at by themselves."""
TEST_IMAGES = 300
RESULTS = Path(__file__).parent / "results" / "consolidation"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the seeds that have not been run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--memory", type=int, default=0, help="kilobytes for all priors; 0: one classifier in float32")
    parser.add_argument("--images", type=int, default=1000, help="training images a task")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--data", default=None, help="folder with the data sets")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    records = []
    for seed in range(options.seeds):
        path = options.out / f"permuted-{options.tasks}-tasks-{options.images}-images-{options.memory}-kB-s{seed}.json"
        if not path.exists():
            result = run(options.tasks, options.images, options.memory, seed, options.data)
            write_whole(path, json.dumps(result, indent=1).encode() + b"\n")
        records.append(json.loads(path.read_text(encoding="utf-8")))
    print(table(records), flush=True)


def run(tasks: int, images: int, memory: int, seed: int, data: str | None) -> dict[str, Any]:
    """One pass over the stream, and what the three distributions know at its end."""
    settings_of_stream = stream_settings("permuted-mnist")
    assert issubclass(settings_of_stream, DrawnSettings)
    stream = settings_of_stream(tasks=tasks, images_per_task=images).build(seed, data)
    preset = method_settings("merlin").preset("default", stream.info)
    assert isinstance(preset, MerlinSettings)
    settings = replace(preset, memory=memory)
    learner = settings.build(stream.info, seed)
    assert isinstance(learner, Merlin)
    held = {way: _empty(learner.distribution) for way in WAYS}
    learned: dict[str, list[float]] = {way: [] for way in WAYS}
    most = dict.fromkeys(WAYS, 0)
    for j, task in enumerate(stream):
        torch.manual_seed(1_000_003 * seed + j)
        learner.begin(task.info)
        for x, y in task.batches(10):
            learner.observe(x, y)
        plain = learner.current_prior
        learner.end()
        held["replay"].priors = list(learner.distribution.priors)
        for way in ("cut", "oldest"):
            held[way].priors.append(plain)
            consolidate(held[way], way, learner.replay_set, learner.generator("consolidation", j))  # type: ignore[arg-type]
        for way in WAYS:
            learned[way].append(_aware(learner, held[way], stream, j))
            most[way] = max(most[way], held[way].bytes)
        _use(learner, held["replay"])
        print(f"\rseed {seed}: task {j + 1} of {tasks}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {
        "stream": "permuted-mnist",
        "tasks": tasks,
        "images_per_task": images,
        "memory": held["replay"].memory,
        "seed": seed,
        "settings": settings.record(),
        "ways": {
            way: {
                "learned": learned[way],
                "final": [_aware(learner, held[way], stream, j) for j in range(tasks)],
                "marginal": _marginal(learner, held[way], stream),
                "most_bytes": most[way],
            }
            for way in WAYS
        },
    }


def _empty(distribution: WeightDistribution) -> WeightDistribution:
    other = copy.copy(distribution)
    other.priors = []
    return other


def _use(learner: Merlin, distribution: WeightDistribution) -> None:
    learner.distribution = distribution
    learner.resample()


@torch.inference_mode()
def _aware(learner: Merlin, distribution: WeightDistribution, stream: Stream, j: int) -> float:
    """The accuracy of task j's own models, in percent."""
    _use(learner, distribution)
    x, y = (part[:TEST_IMAGES] for part in stream[j].test())
    return 100 * float((learner.logits(x, task=j, inference="aware").argmax(dim=-1) == y).float().mean())


@torch.inference_mode()
def _marginal(learner: Merlin, distribution: WeightDistribution, stream: Stream) -> list[float]:
    """The accuracy on every task's test images when nobody says which task they are of."""
    _use(learner, distribution)
    scores = []
    for j in range(len(stream)):
        x, y = (part[:TEST_IMAGES] for part in stream[j].test())
        scores.append(100 * float((learner.logits(x, inference="marginal").argmax(dim=-1) == y).float().mean()))
    return scores


def table(results: list[dict[str, Any]]) -> str:
    """Means over seeds, and what replay gains over the others, told the task (`aware`) and not (`marginal`), as Markdown."""
    first = min(FIRST, results[0]["tasks"])
    size = f"{results[0]['tasks']} tasks of {results[0]['images_per_task']} images"
    seeds = f"{len(results)} seed{'s' * (len(results) > 1)}"
    lines = [
        f"Permuted MNIST, {size}, at most {results[0]['memory'] / 1000:.0f} kB, {seeds}:",
        "",
        f"| consolidation | `aware` | replay gains | `marginal` | replay gains | first {first} at first | at the end | lost |",
        "|---" * 8 + "|",
    ]
    ends = {way: _by_seed(results, way, "final") for way in WAYS}
    blind = {way: _by_seed(results, way, "marginal") for way in WAYS}
    for way in WAYS:
        late, early = (mean([mean(r["ways"][way][which][:first]) for r in results]) for which in ("final", "learned"))
        cells = [f"`{way}`"]
        for scores in (ends, blind):
            outcome = paired(scores["replay"], scores[way]) if way != "replay" else None
            cells += [f"{mean(list(scores[way].values())):.2f}", "" if outcome is None else gain(outcome)]
        lines.append(f"| {' | '.join([*cells, f'{early:.2f}', f'{late:.2f}', f'{early - late:.2f}'])} |")
    return "\n".join(lines)


def _by_seed(results: list[dict[str, Any]], way: str, which: str) -> dict[int, float]:
    return {result["seed"]: mean(result["ways"][way][which]) for result in results}


def gain(outcome: Comparison) -> str:
    """A difference and how likely chance makes one as large."""
    doubt = "" if outcome.p_value is None else f" (p {outcome.p_value:.2g})"
    return f"{outcome.difference:+.2f}{doubt}"


if __name__ == "__main__":
    main()
