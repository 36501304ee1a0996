"""Methods compared over several streams: mean ranks, and how far two must be apart to tell them from each other (Demšar 2006)."""

import math
from collections.abc import Mapping, Sequence

ALPHA = 0.05


def ranks(scores: Sequence[float]) -> list[float]:
    """1 for the highest score; equal scores share the mean of their ranks.

    >>> ranks([90.0, 95.0, 90.0])
    [2.5, 1.0, 2.5]
    """
    return [sum(other > score for other in scores) + (1 + scores.count(score)) / 2 for score in scores]


def mean_ranks(table: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The mean rank of every method, from its scores on the same streams in the same order.

    >>> mean_ranks({"a": [90.0, 80.0], "b": [91.0, 70.0]})
    {'a': 1.5, 'b': 1.5}
    """
    of_streams = [ranks(column) for column in zip(*table.values(), strict=True)]
    return {method: sum(column[place] for column in of_streams) / len(of_streams) for place, method in enumerate(table)}


def critical_difference(methods: int, streams: int) -> float:
    """How far the mean ranks of two of so many methods must be apart, by Nemenyi's test at 5 %, to be told from chance.

    >>> round(critical_difference(4, 14), 3)  # Demšar's example has 2.569 * sqrt(4 * 5 / (6 * 14)) = 1.25
    1.254
    """
    return _range_quantile(methods) / math.sqrt(2) * math.sqrt(methods * (methods + 1) / (6 * streams))


def cliques(means: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Groups of methods that cannot be told from each other, as first and last place in ascending mean ranks; largest ones only.

    >>> cliques([1.0, 1.5, 2.4, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    runs: list[tuple[int, int]] = []
    for first, low in enumerate(means):
        last = max(place for place, high in enumerate(means) if high - low <= difference)
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def complete_block(scores: Mapping[str, Mapping[str, float]]) -> tuple[list[str], list[str]]:
    """Methods and streams, out of scores by method and stream with gaps, that have all their scores and hold the most of them.

    Streams are taken by how many methods they have; empty where no two methods share two streams.

    >>> complete_block({"a": {"x": 1.0, "y": 2.0}, "b": {"x": 1.0, "y": 3.0}, "c": {"x": 5.0}})
    (['a', 'b'], ['x', 'y'])
    """
    counts: dict[str, int] = {}
    for of_method in scores.values():
        for stream in of_method:
            counts[stream] = counts.get(stream, 0) + 1
    order = sorted(counts, key=lambda stream: -counts[stream])
    best: tuple[list[str], list[str]] = ([], [])
    for number in range(2, len(order) + 1):
        streams = order[:number]
        methods = [method for method, of_method in scores.items() if all(stream in of_method for stream in streams)]
        if len(methods) > 1 and len(methods) * number > len(best[0]) * len(best[1]):
            best = (methods, streams)
    return best


def _range_quantile(count: int) -> float:
    """Below which the range of so many standard normal values stays 19 times of 20: the studentized range, infinite degrees."""
    import numpy as np
    from scipy.special import ndtr

    z = np.linspace(-8.0, 8.0, 2001)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)

    def below(width: float) -> float:
        inside = count * density * (ndtr(z) - ndtr(z - width)) ** (count - 1)
        return float(inside.sum() * (z[1] - z[0]))

    low, high = 0.0, 20.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < 1 - ALPHA else (low, middle)
    return (low + high) / 2
