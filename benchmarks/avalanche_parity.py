"""Our rivals beside Avalanche's, on the same Split MNIST stream: final accuracy and CPU time per example.

    python benchmarks/avalanche_parity.py --seeds 0 1 2          # writes results/parity/<method>.json
    python benchmarks/avalanche_parity.py --methods ewc gem      # only some

Both sides have the same 1,000 images a task, five tasks, batches of 10, one pass, the same MLP 100-100 from the same initial
weights, 200 exemplars, the same optimiser and its rate, one update a batch and one thread. They take turns, task after task of
one method and one seed, so that whatever else the machine does meets both. What is timed is learning: on our side from
`begin` to `end` and to the first answer (GDumb learns when it is asked), on theirs `train`; scoring is not. Settings are each
method's own, not tuned ones.

Replay, ER-ACE and MIR get Avalanche's online stream, ten examples at a time, which is the rule that ours follow: 200 examples
are kept at any moment and no more. The file also has them with whole tasks at once (`theirs_by_task`), where Avalanche has all
images of a task at hand while it learns it, beside 200 of earlier tasks. The others get whole tasks (GSS there fails on an
online stream). In our loss all outputs compete, as in theirs.

Avalanche needs an environment of its own; docs/rivals.md says how it is made. Without it this script says so and does nothing.
"""

import argparse
import copy
import math
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from real_avalanche import import_avalanche
from torch import Tensor, nn

from merlin_cl.learners.rivals.agem_settings import AGEMSettings
from merlin_cl.learners.rivals.er_ace_settings import ERACESettings
from merlin_cl.learners.rivals.er_settings import ERSettings
from merlin_cl.learners.rivals.ewc_settings import EWCSettings
from merlin_cl.learners.rivals.gdumb_settings import GDumbSettings
from merlin_cl.learners.rivals.gem_settings import GEMSettings
from merlin_cl.learners.rivals.gss_settings import GSSSettings
from merlin_cl.learners.rivals.icarl_settings import ICaRLSettings
from merlin_cl.learners.rivals.mir_settings import MIRSettings
from merlin_cl.learners.rivals.slda_settings import SLDASettings
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.networks.mlp import MLP
from merlin_cl.runs.environment import git_revision
from merlin_cl.runs.folder import write_json
from merlin_cl.runs.progress import clock_time
from merlin_cl.streams.registry import stream_settings
from merlin_cl.streams.stream import Stream
from merlin_cl.tensors import as_float

BUDGET, BATCH = 200, 10
STRENGTH = 100.0
RESULTS = Path(__file__).resolve().parent.parent / "results" / "parity"
ABSENT = (
    "Avalanche is not installed here, so there is nothing to compare with; docs/rivals.md says how to make an environment "
    "that has it."
)


@dataclass(frozen=True)
class Images:
    """One seed's stream as tensors: what both sides learn and are scored on."""

    stream: Stream
    train: list[list[tuple[Tensor, Tensor]]]  # batches of each task, bytes
    test: list[tuple[Tensor, Tensor]]

    @classmethod
    def drawn(cls, seed: int, images_per_task: int) -> "Images":
        """What a seed draws."""
        stream = stream_settings("split-mnist")(images_per_task=images_per_task).build(seed)
        return cls(stream, [list(task.batches(BATCH)) for task in stream], [task.test() for task in stream])

    @property
    def count(self) -> int:
        """Examples to learn from."""
        return sum(len(y) for task in self.train for _, y in task)


class Timer:
    """CPU seconds of what runs inside `with`."""

    seconds = 0.0

    def __enter__(self) -> None:
        self._start = time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._start


def ours(settings: MethodSettings, images: Images, seed: int, timer: Timer) -> Iterator[float]:
    """Our side: learns a task at a time, and at last gives the final accuracy."""
    learner = settings.build(images.stream.info, seed)
    for task, batches in zip(images.stream, images.train, strict=True):
        with timer:
            learner.begin(task.info)
            for x, y in batches:
                learner.observe(x, y)
            learner.end()
            learner.logits(batches[0][0])
        yield math.nan
    yield _final(images, lambda x: learner.logits(x))


def _final(images: Images, answer: Callable[[Tensor], Tensor]) -> float:
    """The mean over tasks of the accuracy in percent, all classes competing."""
    correct = [(answer(x).argmax(dim=1) == y).float().mean() for x, y in images.test]
    return 100 * float(torch.stack(correct).mean())


class Network(nn.Module):
    """The MLP as Avalanche wants it: features and a classifier, the weights ours."""

    def __init__(self, images: Images, seed: int) -> None:
        super().__init__()
        network = MLP(images.stream.info.input_shape, images.stream.info.classes)
        # The learner's own initial weights, so that both sides begin alike.
        row = ERSettings().build(images.stream.info, seed).state()["method"]["weights"][0]
        *features, self.classifier = network.module(row).children()
        self.features = nn.Sequential(*features)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        return self.classifier(self.features(x))


class RandomLayer(nn.Module):
    """SLDA's fixed features: the same random layer as ours."""

    def __init__(self, images: Images, seed: int) -> None:
        super().__init__()
        self.layer = SLDASettings().build(images.stream.info, seed)._layer

    def forward(self, x: Tensor) -> Tensor:
        """Features."""
        return (torch.cat([x.flatten(1), torch.ones(len(x), 1)], dim=1) @ self.layer).relu()


class _Pairs(torch.utils.data.Dataset[Any]):
    """Images and labels, as Avalanche reads them."""

    def __init__(self, batches: list[tuple[Tensor, Tensor]]) -> None:
        x, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
        self.x, self.targets = as_float(x), y.tolist()

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, at: int) -> tuple[Tensor, int]:
        return self.x[at], self.targets[at]


def their_benchmark(avalanche: Any, images: Images) -> Any:
    """The same images as an Avalanche benchmark of five experiences with two classes each; we score ourselves."""
    pairs = _Pairs([batch for task in images.train for batch in task])
    dataset = avalanche.benchmarks.utils.as_classification_dataset(pairs)
    return avalanche.benchmarks.nc_benchmark(
        dataset,
        dataset,
        n_experiences=len(images.train),
        task_labels=False,
        fixed_class_order=list(range(images.stream.info.classes)),
    )


def theirs(avalanche: Any, method: str, images: Images, seed: int, timer: Timer, online: bool) -> Iterator[float]:
    """Their side, the same way; `online` brings a task in batches, each an experience."""
    torch.manual_seed(seed)
    make = ONLINE_STRATEGIES[method] if online else STRATEGIES[method]
    strategy = make(avalanche.training, images, seed)
    for task in their_benchmark(avalanche, images).train_stream:
        parts = avalanche.benchmarks.split_online_stream([task], experience_size=BATCH) if online else [task]
        with timer:
            for experience in parts:
                strategy.train(experience, num_workers=0)
        yield math.nan
    strategy.model.eval()

    @torch.no_grad()
    def answer(x: Tensor) -> Tensor:
        out = strategy.model(as_float(x))
        return strategy.predict(out) if method == "slda" else out

    yield _final(images, answer)


def _common(images: Images, seed: int, optimiser: str = "adam", rate: float = 1e-3) -> dict[str, Any]:
    model = Network(images, seed)
    kind = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[optimiser]
    return {
        "model": model,
        "optimizer": kind(model.parameters(), lr=rate),
        "criterion": nn.CrossEntropyLoss(),
        "train_mb_size": BATCH,
        "train_epochs": 1,
        "evaluator": None,
    }


def _reservoir_replay(training: Any, images: Images, seed: int) -> Any:
    reservoir = training.storage_policy.ReservoirSamplingBuffer(max_size=BUDGET)
    replay = training.plugins.ReplayPlugin(mem_size=BUDGET, storage_policy=reservoir)
    return training.supervised.Naive(plugins=[replay], **_common(images, seed))


def _reservoir_ace(training: Any, images: Images, seed: int) -> Any:
    """Their ER-ACE with the paper's reservoir; of its own it shares the memory out to classes as soon as one turns up."""
    strategy = STRATEGIES["er-ace"](training, images, seed)
    strategy.storage_policy = training.storage_policy.ReservoirSamplingBuffer(max_size=BUDGET)
    return strategy


def _icarl(training: Any, images: Images, seed: int) -> Any:
    common = _common(images, seed)
    model = common.pop("model")
    del common["criterion"]
    return training.supervised.ICaRL(
        feature_extractor=model.features,
        classifier=model.classifier,
        memory_size=BUDGET,
        buffer_transform=None,
        fixed_memory=True,
        **common,
    )


def _slda(training: Any, images: Images, seed: int) -> Any:
    common = _common(images, seed)
    features = RandomLayer(images, seed)
    kept = {name: common[name] for name in ("criterion", "train_mb_size", "evaluator")}
    return training.supervised.StreamingLDA(
        slda_model=features, input_size=SLDASettings().width, num_classes=images.stream.info.classes, **kept
    )


PER_TASK = BUDGET // 5
STRATEGIES: dict[str, Callable[[Any, Images, int], Any]] = {
    "ewc": lambda training, images, seed: training.supervised.EWC(ewc_lambda=STRENGTH, **_common(images, seed)),
    "gem": lambda training, images, seed: training.supervised.GEM(
        patterns_per_exp=PER_TASK, memory_strength=0.5, **_common(images, seed, "sgd", 0.1)
    ),
    "agem": lambda training, images, seed: training.supervised.AGEM(
        patterns_per_exp=PER_TASK, sample_size=256, **_common(images, seed, "sgd", 0.1)
    ),
    "er": lambda training, images, seed: training.supervised.Replay(mem_size=BUDGET, **_common(images, seed)),
    "er-ace": lambda training, images, seed: training.supervised.ER_ACE(
        mem_size=BUDGET, batch_size_mem=10, **_common(images, seed)
    ),
    "mir": lambda training, images, seed: training.supervised.MIR(
        mem_size=BUDGET, subsample=50, batch_size_mem=10, **_common(images, seed)
    ),
    "gss": lambda training, images, seed: training.supervised.GSS_greedy(
        mem_size=BUDGET, mem_strength=10, input_size=list(images.stream.info.input_shape), **_common(images, seed)
    ),
    "icarl": _icarl,
    "gdumb": lambda training, images, seed: training.supervised.GDumb(
        mem_size=BUDGET, **(_common(images, seed) | {"train_mb_size": 20, "train_epochs": 40})
    ),
    "slda": _slda,
}
ONLINE_STRATEGIES = {"er": _reservoir_replay, "er-ace": _reservoir_ace, "mir": STRATEGIES["mir"]}
ALL: dict[str, Any] = {"competing": "all"}
OURS: dict[str, MethodSettings] = {
    "ewc": EWCSettings(strength=STRENGTH, **ALL),
    "gem": GEMSettings(**ALL),
    "agem": AGEMSettings(**ALL),
    "er": ERSettings(**ALL),
    "er-ace": ERACESettings(**ALL),
    "mir": MIRSettings(exemplar_choice="balanced", **ALL),
    "gss": GSSSettings(**ALL),
    "icarl": ICaRLSettings(),
    "gdumb": GDumbSettings(),
    "slda": SLDASettings(),
}
"""Exemplars are chosen as there: by reservoir, or balanced by class (`mir`)."""


def compare(avalanche: Any, method: str, images: Images, seed: int) -> dict[str, Any]:
    """One seed of one method on both sides, a task each in turn."""
    timers: dict[str, Timer] = {}

    def timer(side: str) -> Timer:
        return timers.setdefault(side, Timer())

    online = method in ONLINE_STRATEGIES
    sides = {
        "ours": ours(OURS[method], images, seed, timer("ours")),
        "theirs": theirs(avalanche, method, images, seed, timer("theirs"), online),
    }
    if online:
        sides["theirs_by_task"] = theirs(avalanche, method, images, seed, timer("theirs_by_task"), online=False)
    order = sorted(sides, reverse=bool(seed % 2))
    accuracy: dict[str, float] = {}
    for _ in range(len(images.train) + 1):
        for side in order:
            accuracy[side] = next(sides[side])
    return {"seed": seed} | {
        side: {
            "final_accuracy": round(accuracy[side], 3),
            "milliseconds_per_example": round(1000 * timers[side].seconds / images.count, 4),
        }
        for side in sides
    }


def _warm_up() -> None:
    """The first step of an optimiser imports a second's worth of torch, which is nobody's."""
    weight = nn.Parameter(torch.ones(1))
    weight.sum().backward()
    torch.optim.Adam([weight]).step()


def main() -> None:
    """Compare, and write a file a method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--methods", nargs="+", choices=sorted(OURS), default=list(OURS))
    parser.add_argument("--images-per-task", type=int, default=1000)
    parser.add_argument("--into", type=Path, default=RESULTS)
    options = parser.parse_args()
    avalanche = import_avalanche()
    if avalanche is None:
        print(ABSENT, file=sys.stderr)
        return
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # those of Avalanche
    _warm_up()
    options.into.mkdir(parents=True, exist_ok=True)
    records: dict[str, list[dict[str, Any]]] = {method: [] for method in options.methods}
    revision = git_revision(Path(__file__).parent)
    begun, done, total = time.monotonic(), 0, len(options.seeds) * len(options.methods)
    for seed in options.seeds:
        images = Images.drawn(seed, options.images_per_task)
        for method in options.methods:
            records[method].append(compare(avalanche, method, images, seed))
            done += 1
            left = clock_time((time.monotonic() - begun) / done * (total - done))
            print(f"{method} {records[method][-1]}, about {left} left", file=sys.stderr, flush=True)
            record = {
                "method": method,
                "settings": OURS[method].record(),
                "stream": {"name": "split-mnist", "images_per_task": options.images_per_task, "batch_size": BATCH},
                "source": images.stream.source,
                "runs": records[method],
                "versions": {
                    "torch": torch.__version__,
                    "avalanche": avalanche.__version__,
                    "python": platform.python_version(),
                },
                "revision": revision,
            }
            write_json(options.into / f"{method}.json", copy.deepcopy(record))


if __name__ == "__main__":
    main()
