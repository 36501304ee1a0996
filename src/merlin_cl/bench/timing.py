"""Timing that survives a busy machine: rivals take turns, and the quickest quarter of the rounds counts."""

import time
from collections.abc import Callable, Mapping

Work = Callable[[], object]


def compare(rivals: Mapping[str, Work], seconds: float = 4.0, warm_up: int = 3) -> dict[str, float]:
    """Seconds a call of each rival: the lower quartile over rounds in which each is called once."""
    for work in rivals.values():
        for _ in range(warm_up):
            work()
    taken: dict[str, list[float]] = {name: [] for name in rivals}
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline or len(next(iter(taken.values()))) < 8:
        for name, work in rivals.items():
            start = time.perf_counter()
            work()
            taken[name].append(time.perf_counter() - start)
    return {name: sorted(times)[len(times) // 4] for name, times in taken.items()}
