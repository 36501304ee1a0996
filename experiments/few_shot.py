"""Few-shot learning of tasks that MERLIN never saw, from models sampled for their descriptors, against fresh networks.

    python experiments/few_shot.py --data DIR --seeds 0                 # 10 to 15 minutes on a free core
    python experiments/few_shot.py --tiny                               # seconds; made-up data, for tests

All tasks of a stream but the last `--held-out` are learned one after the other, described by the words of their class
names. For each task held out, networks are then fitted to n examples a class and asked to choose among its classes. They
differ in where they start and in nothing else:

    fresh        initial weights, each network its own
    start        psi_0, where all base models started from
    average      the average of all tasks' priors: what MERLIN knows without a descriptor
    linear       the prior of the task's descriptor, a mixture of those of known tasks
    neighbours   each network from the prior of one known task, near ones more often

After fitting, batch statistics are those of the n examples. With n = 0 there is nothing to fit: `linear` and the others are at
chance, as outputs of new classes were never trained. `words` is what zero examples can give: known classes that the learner
finds likely in an image vote for the new class whose name means something similar.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

import torch
from torch import Tensor

from merlin_cl.learners.merlin.learner import Merlin
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.merlin.unseen import semantic_scores
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.statistics import reestimate_statistics
from merlin_cl.statefile import write_whole
from merlin_cl.streams.descriptors import WordDescriptors, describe_by_words
from merlin_cl.streams.registry import stream_settings
from merlin_cl.streams.settings import DrawnSettings
from merlin_cl.streams.stream import Stream, Task
from merlin_cl.streams.word_vectors import find_words
from merlin_cl.tensors import as_float

SHOTS = (0, 1, 5, 10)
STARTS = ("fresh", "start", "average", "linear", "neighbours")


@dataclass(frozen=True)
class Fitting:
    """How networks are fitted to the few examples, wherever they start."""

    models: int
    epochs: int
    rate: float
    batch: int = 20


def main() -> None:
    """Read the options, print the table, write the figures."""
    options = parsed()
    torch.set_num_threads(1)
    fitting = Fitting(options.models, options.epochs, options.rate)
    records: list[dict[str, float | int | str]] = []
    for seed in options.seeds:
        stream, words = tiny_stream(seed) if options.tiny else described(options, seed)
        known = len(stream) - options.held_out
        learner = learned(stream, known, options, seed)
        for task in list(stream)[known:]:
            for start, shots, accuracy in curve(learner, task, stream, words, fitting, seed):
                records.append(
                    {"seed": seed, "task": task.info.index, "start": start, "n": shots, "accuracy": accuracy}
                )
            print(f"seed {seed}, tasks held out up to {task.info.index}, mean accuracy\n{table(records)}", flush=True)
    if options.out:
        settings = {name: value for name, value in vars(options).items() if name not in ("data", "out")}
        write_whole(
            Path(options.out), json.dumps({"settings": settings, "accuracy": records}, indent=1).encode() + b"\n"
        )


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stream", default="split-cifar100")
    parser.add_argument("--held-out", type=int, default=3, help="tasks at the end that are not learned")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--data", help="the folder of data sets; without it the usual places")
    parser.add_argument("--words", default="", help="a file of word vectors; without it one among the data sets")
    parser.add_argument("--images-per-task", type=int, default=2500)
    parser.add_argument("--evaluation", default="test", choices=("test", "held-out"))
    parser.add_argument("--base-models", type=int, help="without it as many as MERLIN has on the stream")
    parser.add_argument("--models", type=int, default=3, help="networks that are fitted and vote")
    parser.add_argument("--epochs", type=int, default=60, help="passes over the few examples")
    parser.add_argument("--rate", type=float, default=1e-3, help="Adam's learning rate on them")
    parser.add_argument("--tiny", action="store_true", help="made-up data, everything small")
    parser.add_argument("--out", help="a JSON file for the figures")
    options = parser.parse_args()
    if options.tiny:
        options.base_models, options.models, options.epochs = 2, 2, 10
    return options


def described(options: argparse.Namespace, seed: int) -> tuple[Stream, WordDescriptors]:
    """The stream with word descriptors."""
    settings = stream_settings(options.stream)()
    assert isinstance(settings, DrawnSettings), options.stream
    settings = replace(settings, images_per_task=options.images_per_task, evaluation=options.evaluation)
    stream = settings.build(seed, options.data)
    return stream, describe_by_words(stream, find_words(options.words, options.data))


def tiny_stream(seed: int) -> tuple[Stream, WordDescriptors]:
    """Six tasks of two clouds each, named by made-up words whose vectors are where the clouds are."""
    generator = torch.Generator().manual_seed(seed)
    centres = torch.randn(12, 8, generator=generator)
    y = torch.arange(12).repeat_interleave(40)
    x = centres[y] + 0.5 * torch.randn(len(y), 8, generator=generator)
    stream = Stream.from_arrays(x.numpy(), y.numpy(), tasks=6, seed=seed)
    vectors = {name: tuple(centres[int(name)].tolist()) for name in stream.class_names}
    words = WordDescriptors(Path("made-up.txt"), vectors, [])
    for task in stream:
        names = [stream.class_names[label] for label in task.info.classes]
        task.info = replace(task.info, descriptor=words.descriptor(names))
    return stream, words


def learned(stream: Stream, known: int, options: argparse.Namespace, seed: int) -> Merlin:
    """MERLIN after the first tasks of the stream."""
    settings = replace(MerlinSettings.preset("default", stream.info), descriptor="words")
    if options.base_models is not None:
        settings = replace(settings, base_models=options.base_models)
    learner = Merlin(stream.info, settings, seed)
    for task in list(stream)[:known]:
        begun = time.process_time()
        learner.begin(task.info)
        for x, y in task.batches(10):
            learner.observe(x, y)
        learner.end()
        print(f"task {task.info.index} learned in {time.process_time() - begun:.0f} CPU seconds", flush=True)
    return learner


def curve(
    learner: Merlin, task: Task, stream: Stream, words: WordDescriptors, fitting: Fitting, seed: int
) -> Iterator[tuple[str, int, float]]:
    """Accuracy (%) on a task held out: (start, n, accuracy)."""
    few_x, few_y = few_examples(task, max(SHOTS))
    x, y = task.test()
    yield "words", 0, accuracy_by_words(learner, task, stream, words, x, y)
    for shots in SHOTS:
        chosen = torch.cat([(few_y == label).nonzero()[:shots, 0] for label in task.info.classes])
        for start in STARTS:
            bank = started(start, learner, task, few_x[chosen], fitting.models, seed)
            fit(bank, few_x[chosen], few_y[chosen], task, fitting, seed)
            yield start, shots, accuracy(bank, task, x, y)


def few_examples(task: Task, count: int) -> tuple[Tensor, Tensor]:
    """The first examples of each class that the task's training stream brings."""
    ((x, y),) = task.batches(task.train_count)
    places = torch.cat([(y == label).nonzero()[:count, 0] for label in task.info.classes])
    return x[places], y[places]


def started(start: str, learner: Merlin, task: Task, few_x: Tensor, count: int, seed: int) -> Bank:
    """Networks before they are fitted."""
    network, seen = learner.network, few_x if len(few_x) else learner.memory.x
    descriptor = task.info.descriptor
    assert descriptor is not None
    if start == "fresh":
        return Bank(network, network.initial(count, torch.Generator().manual_seed(seed)))
    if start == "start":
        return Bank(network, network.initial(1, learner.generator("psi_0")).repeat(count, 1))
    if start == "average":
        bank = Bank(network, learner.distribution.aggregate(count, learner.generator("sample", "average")))
        reestimate_statistics(bank, as_float(seen))
        return bank
    return learner.sample_unseen(descriptor, count, "linear" if start == "linear" else "neighbours", seen)


def fit(bank: Bank, x: Tensor, y: Tensor, task: Task, fitting: Fitting, seed: int) -> None:
    """Train all networks on the few examples, each in an order of its own; statistics then come from these examples."""
    if len(y) == 0:
        return
    generator, training, inputs = torch.Generator().manual_seed(seed), Training(bank, fitting.rate), as_float(x)
    for _ in range(fitting.epochs):
        order = torch.rand(bank.members, len(y), generator=generator).argsort(dim=1)  # [M, n]
        for chosen in order.split(fitting.batch, dim=1):
            training.step(inputs[chosen], y[chosen], outputs(bank, task))
    reestimate_statistics(bank, inputs)


def accuracy(bank: Bank, task: Task, x: Tensor, y: Tensor) -> float:
    """Of the networks' mean probability among the task's classes."""
    votes = vote(bank.logits(as_float(x)), outputs(bank, task).unsqueeze(0), "mean-probability")[0]
    return 100 * float((votes.argmax(dim=1) == y).float().mean())


def accuracy_by_words(
    learner: Merlin, task: Task, stream: Stream, words: WordDescriptors, x: Tensor, y: Tensor
) -> float:
    """Without any example: known classes vote for the new class that means something similar."""
    vectors = torch.tensor([words.classes[name] for name in stream.class_names if name in words.classes])
    place = {name: at for at, name in enumerate(name for name in stream.class_names if name in words.classes)}
    known = [label for label in learner.seen if stream.class_names[label] in place]
    wanted = [label for label in task.info.classes if stream.class_names[label] in place]
    likely = learner.logits(x, inference="aggregate")[:, known].softmax(dim=1)
    known_vectors, wanted_vectors = (
        vectors[[place[stream.class_names[label]] for label in labels]] for labels in (known, wanted)
    )
    choice = torch.tensor(wanted)[semantic_scores(likely, known_vectors, wanted_vectors).argmax(dim=1)]
    return 100 * float((choice == y).float().mean())


def outputs(bank: Bank, task: Task) -> Tensor:
    """The outputs of the task's classes, bool [outputs]."""
    mask = torch.zeros(bank.network.classes, dtype=torch.bool)
    mask[list(task.info.classes)] = True
    return mask


def table(records: list[dict[str, float | int | str]]) -> str:
    """Mean over seeds and tasks held out: a row a start, a column an n."""
    lines = [f"{'':12}" + "".join(f"{f'n = {shots}':>9}" for shots in SHOTS)]
    for start in ("words", *STARTS):
        cells = []
        for shots in SHOTS:
            values = [float(row["accuracy"]) for row in records if row["start"] == start and row["n"] == shots]
            cells.append(f"{mean(values):9.1f}" if values else f"{'':9}")
        lines.append(f"{start:12}" + "".join(cells))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
