"""MERLIN on data of your own, beside a single network that forgets: `python examples/own_data.py`, under a minute.

Six kinds of noisy waves arrive two at a time. Any arrays will do in place of `waves`.
"""

import numpy as np

from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.rivals.single_settings import SingleSettings
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.streams import Stream


def waves(count: int = 900, length: int = 48, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Signals [count, length] and what each is."""
    draws = np.random.default_rng(seed)
    kinds = np.array(["chirp", "flat", "pulse", "saw", "sine", "square"])
    labels = kinds[np.arange(count) % len(kinds)]
    time = np.linspace(0, 3, length) + draws.random((count, 1))
    shapes = {
        "chirp": np.sin(np.pi * time**2),
        "flat": np.zeros_like(time),
        "pulse": np.exp(-80 * (time % 1 - 0.5) ** 2),
        "saw": 2 * (time % 1) - 1,
        "sine": np.sin(2 * np.pi * time),
        "square": np.sign(np.sin(2 * np.pi * time)),
    }
    signals = np.stack([shapes[label][at] for at, label in enumerate(labels)])
    return (signals + draws.normal(0, 0.3, signals.shape)).astype(np.float32), labels


def learned(settings: MethodSettings) -> tuple[float, list[float]]:
    """Accuracy in percent on all classes at the end, and on each task."""
    stream = Stream.from_arrays(*waves(), tasks=3, name="waves")
    learner = settings.build(stream.info, seed=0)
    for task in stream:
        learner.begin(task.info)
        for x, y in task.batches(10):
            learner.observe(x, y)
        learner.end()
    scores = []
    for task in stream:
        x, y = task.test()
        scores.append(100 * float((learner.logits(x).argmax(dim=1) == y).float().mean()))
    return sum(scores) / len(scores), scores


def main() -> None:
    """Print a line for each method."""
    for settings in (SingleSettings(), MerlinSettings(exemplars=60)):
        mean, scores = learned(settings)
        print(f"{settings.method:<8}{mean:5.1f} %   by task: {', '.join(f'{score:.0f}' for score in scores)}")


if __name__ == "__main__":
    main()
