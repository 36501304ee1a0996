"""What it is worth that a process keeps the memory that a training step of residual networks frees, instead of giving it back.

    python benchmarks/kept_memory.py

One thread, CPU time, a task of random images of 84 pixels. Processes that keep 256 MB and those that keep what the package keeps
run in turn; printed are the median of their ratios and each side's fastest time.
"""

import subprocess
import sys
import time
from statistics import median

import torch

from merlin_cl.learners.registry import method_settings
from merlin_cl.networks import memory
from merlin_cl.protocol import StreamInfo, TaskInfo

CLASSES, IMAGES, ROUNDS, LITTLE = 10, 200, 3, 256 * 2**20
STREAM = StreamInfo(name="random", input_shape=(3, 84, 84), classes=CLASSES, tasks=2)
SHORTER = {"merlin-paper": {"fine_tune_epochs": 2}, "merlin": {}, "er": {}}
"""Methods, with what keeps them from taking minutes."""


def main() -> None:
    """Print a line a method."""
    kept = memory.KEPT_BYTES
    print(f"learning {IMAGES} images and answering one; processes keep {LITTLE >> 20} MB or {kept >> 20} MB")
    for method in SHORTER:
        pairs = [(in_process(method, LITTLE), in_process(method, kept)) for _ in range(ROUNDS)]
        slow, fast = (min(side) for side in zip(*pairs, strict=True))
        ratio = median(few / many for few, many in pairs)
        print(f"{method:14}{slow:7.1f} s{fast:7.1f} s{ratio:7.2f} times as fast", flush=True)


def in_process(method: str, kept: int) -> float:
    """CPU seconds in a process that keeps so many bytes."""
    done = subprocess.run([sys.executable, __file__, method, str(kept)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def measured(method: str) -> float:
    """CPU seconds, once there is machine code."""
    learn(method, 20)
    begun = time.process_time()
    learn(method, IMAGES)
    return time.process_time() - begun


def learn(method: str, images: int) -> None:
    """Learn a task of so many images, and answer one."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(images, *STREAM.input_shape, generator=generator)
    y = torch.randint(CLASSES, (images,), generator=generator)
    learner = method_settings(method).untuned(STREAM).changed(SHORTER[method]).build(STREAM, seed=0)
    learner.begin(TaskInfo(0, tuple(range(CLASSES))))
    for first in range(0, images, 10):
        learner.observe(x[first : first + 10], y[first : first + 10])
    learner.end()
    learner.logits(x[:1])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        torch.set_num_threads(1)
        memory.KEPT_BYTES = int(sys.argv[2])
        print(measured(sys.argv[1]))
    else:
        main()
