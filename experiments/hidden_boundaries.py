"""Streams whose task boundaries nobody tells: are they found, and what does not knowing them cost?

    python experiments/hidden_boundaries.py detection                       # half a minute: found, missed, false, delay
    python experiments/hidden_boundaries.py accuracy --stream split-mnist   # some minutes: told, detected, every so many
    python experiments/hidden_boundaries.py detection --tiny                # seconds, for tests

`detection` lets the detector of `boundaries="detected"` watch streams and compares its alarms with the boundaries: an alarm with
the batch that a boundary lies in, or within 200 examples after it, has found it; any other is false. The delay is the number of
examples that were taken for those of the old task. The streams: new classes, a new permutation of pixels, a rotation by 18
degrees more, at once or little by little over 400 examples (found within 200 examples after these), tasks of 800 examples, new
classes that blend into the old ones over 200 examples, boundaries at odd places, and fifty streams of one task alone.

`accuracy` learns a stream with a method behind the estimator: boundaries told, detected, and cut every n examples for several n,
right and wrong ones. Batches cross hidden boundaries; test accuracy is over all classes, without the task.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from torch import Tensor

from merlin_cl import ContinualClassifier
from merlin_cl.estimator.boundaries import divider
from merlin_cl.streams import Stream, stream_settings

NEAR = 200
"""Examples after a boundary within which an alarm counts as finding it."""
BATCH = 10
STILL = 50
"""Streams without a boundary."""
Examples = tuple[Tensor, Tensor]


def main() -> None:
    """Read the options, print the table, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("detection", "accuracy"))
    parser.add_argument("--seeds", type=int, nargs="+", default=None, help="0 1 2 3 4 for detection, 0 for accuracy")
    parser.add_argument("--stream", default="split-mnist", help="of accuracy: split-mnist or permuted-mnist")
    parser.add_argument("--method", default="merlin", help="of accuracy")
    parser.add_argument("--only", default="", help="of detection: streams whose name has this in it")
    parser.add_argument("--tiny", action="store_true", help="short streams")
    parser.add_argument("--out", type=Path, help="a file for the figures, as JSON")
    options = parser.parse_args()
    torch.set_num_threads(1)
    measure = detection if options.part == "detection" else accuracy
    rows = measure(options)
    if options.out:
        options.out.write_text(json.dumps({"command": _command(options), "rows": rows}, indent=1) + "\n", "utf-8")


def detection(options: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each kind of stream, summed over seeds."""
    size = 300 if options.tiny else 1000
    kinds: dict[str, Callable[[int], tuple[list[Examples], list[int]]]] = {
        "new classes (split-mnist)": lambda seed: abrupt("split-mnist", seed, size),
        "new classes, odd boundaries": lambda seed: odd("split-mnist", seed, size),
        "new classes, blended over 200": lambda seed: blended("split-mnist", seed, size),
        "new permutation (permuted-mnist)": lambda seed: abrupt("permuted-mnist", seed, size),
        "new permutation, odd boundaries": lambda seed: odd("permuted-mnist", seed, size),
        "new permutation, tasks of 800": lambda seed: abrupt("permuted-mnist", seed, 8 * size // 10),
        "rotated further (rotated-mnist)": lambda seed: abrupt("rotated-mnist", seed, size),
        "rotated further, tasks of 800": lambda seed: abrupt("rotated-mnist", seed, 8 * size // 10),
        "rotated further, blended over 400": lambda seed: blended("rotated-mnist", seed, size, over=400),
        "one task, no boundary": lambda seed: alone("permuted-mnist", seed, size),
    }
    print(
        f"{'stream':<34}{'boundaries':>11}{'detected':>7}{'missed':>8}{'false':>7}{'mean delay':>12}{'ms a batch':>12}"
    )
    if options.tiny:
        kinds = {name: make for name, make in kinds.items() if "permutation" not in name and "rotated" not in name}
    rows = []
    for name, make in kinds.items():
        if options.only not in name:
            continue
        boundaries = detected = false = batches = 0
        delays: list[int] = []
        near = NEAR + (
            400 if "over 400" in name else 0
        )  # as long as the change goes on, and then as long as for others
        seconds = 0.0
        for seed in options.seeds or range(1 if options.tiny else STILL if "no boundary" in name else 5):
            parts, true = make(seed)
            start = time.process_time()
            alarms = _alarms(parts)
            seconds += time.process_time() - start
            hits = [next((max(0, alarm - at) for alarm in alarms if -BATCH < alarm - at <= near), None) for at in true]
            delays += [hit for hit in hits if hit is not None]
            boundaries += len(true)
            detected += sum(hit is not None for hit in hits)
            false += len(alarms) - sum(hit is not None for hit in hits)
            batches += sum(-(-len(y) // BATCH) for _, y in parts)
        delay = mean(delays) if delays else float("nan")
        row = {
            "stream": name,
            "boundaries": boundaries,
            "found": detected,
            "missed": boundaries - detected,
            "false": false,
        }
        rows.append({**row, "mean_delay": delay if delays else None, "ms_a_batch": 1000 * seconds / batches})
        print(
            f"{name:<34}{boundaries:>11}{detected:>7}{boundaries - detected:>8}{false:>7}{delay:>12.1f}"
            f"{1000 * seconds / batches:>12.2f}",
            flush=True,
        )
    return rows


def accuracy(options: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each way to cut the stream and each seed."""
    size = 100 if options.tiny else 1000
    ways: list[Any] = ["told", "detected", size, size // 2, 1300 * size // 1000]
    print(f"{'boundaries':<12}{'seed':>5}{'tasks':>7}{'accuracy':>10}{'CPU seconds':>13}")
    rows = []
    for seed in options.seeds or [0]:
        for boundaries in ways:
            stream = _built(options.stream, seed, size)
            start = time.process_time()
            model = _learned(stream, boundaries, options.method, seed)
            x, y = (torch.cat(parts) for parts in zip(*(task.test() for task in stream), strict=True))
            score = 100 * model.score(x, y)
            seconds = time.process_time() - start
            row = {"stream": options.stream, "method": options.method, "boundaries": boundaries, "seed": seed}
            rows.append({**row, "tasks": len(model.tasks_), "accuracy": score, "cpu_seconds": seconds})
            print(f"{boundaries!s:<12}{seed:>5}{len(model.tasks_):>7}{score:>10.2f}{seconds:>13.1f}", flush=True)
    return rows


def _learned(stream: Stream, boundaries: Any, method: str, seed: int) -> ContinualClassifier:
    scenario: Any = "domain-incremental" if stream.info.domain_incremental else "class-incremental"
    model = ContinualClassifier(
        method, scenario=scenario, boundaries=boundaries, expected_tasks=len(stream), random_state=seed
    )
    if boundaries == "told":
        for number, (x, y) in enumerate(_tasks(stream)):
            model.partial_fit(x, y, task=number, classes=range(stream.info.classes))  # as `fit` sees all of them
        return model.end_task()
    x, y = (torch.cat(parts) for parts in zip(*_tasks(stream), strict=True))
    return model.fit(x, y)


def _alarms(parts: list[Examples]) -> list[int]:
    """Where a new task is found to begin: the number of examples before it. Batches cross boundaries."""
    x, y = (torch.cat(values) for values in zip(*parts, strict=True))
    alarms, seen = [], 0
    for begins, _, labels in divider("detected", tuple(x.shape[1:])).pieces(x, y, BATCH):
        if begins:
            alarms.append(seen)
        seen += len(labels)
    return alarms


def _built(name: str, seed: int, size: int) -> Stream:
    return stream_settings(name)(images_per_task=size).build(seed)  # type: ignore[call-arg]


def _tasks(stream: Stream) -> list[Examples]:
    """The training examples of every task, in the order in which they arrive."""
    tasks = []
    for task in stream:
        batches = list(task.batches(1000))
        tasks.append((torch.cat([x for x, _ in batches]), torch.cat([y for _, y in batches])))
    return tasks


def _boundaries(parts: list[Examples]) -> list[int]:
    """Examples before each task but the first."""
    lengths = torch.tensor([len(y) for _, y in parts]).cumsum(0)
    return lengths[:-1].tolist()


def abrupt(name: str, seed: int, size: int) -> tuple[list[Examples], list[int]]:
    """One task after the other."""
    parts = _tasks(_built(name, seed, size))
    return parts, _boundaries(parts)


def odd(name: str, seed: int, size: int) -> tuple[list[Examples], list[int]]:
    """Tasks of different lengths, none a whole number of batches."""
    draws = torch.Generator().manual_seed(seed)
    kept = [size // 2 + int(torch.randint(size // 2, (), generator=draws)) for _ in range(100)]
    parts = [(x[:count], y[:count]) for (x, y), count in zip(_tasks(_built(name, seed, size)), kept, strict=False)]
    return parts, _boundaries(parts)


def blended(name: str, seed: int, size: int, over: int = 200) -> tuple[list[Examples], list[int]]:
    """The last examples of a task change places with the first of the next, the more the nearer to the boundary, which counts
    as being where this sets in."""
    draws = torch.Generator().manual_seed(seed)
    parts = _tasks(_built(name, seed, size))
    x, y = (torch.cat(values) for values in zip(*parts, strict=True))
    order = torch.arange(len(y))
    true = _boundaries(parts)
    for at in true:
        for back in range(over // 2):
            if float(torch.rand((), generator=draws)) < 0.5 * (1 - back / (over / 2)):
                one, other = at - 1 - back, at + back
                order[[one, other]] = order[[other, one]]
    return [(x[order], y[order])], [at - over // 2 for at in true]


def alone(name: str, seed: int, size: int) -> tuple[list[Examples], list[int]]:
    """A single task, long enough for false alarms."""
    stream = stream_settings(name)(tasks=1, images_per_task=3 * size).build(seed)  # type: ignore[call-arg]
    return _tasks(stream), []


def _command(options: argparse.Namespace) -> str:
    chosen = f" --stream {options.stream} --method {options.method}" if options.part == "accuracy" else ""
    seeds = f" --seeds {' '.join(map(str, options.seeds))}" if options.seeds else ""
    return f"python experiments/hidden_boundaries.py {options.part}{chosen}{seeds}"


if __name__ == "__main__":
    main()
