"""docs/fronts.md: accuracy against bytes, CPU time and exemplars, and who is on the front, from result files."""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tools.pages.charts import STYLE, beside
from tools.pages.markdown import NOTHING, ROOT, filled, table
from tools.pages.records import A, Record, ResultRow, entries, read_records, streams_of
from tools.pages.svg import drawing, element, group, line, text

from merlin_cl.learners.registry import method_settings
from merlin_cl.metrics import mean
from merlin_cl.report.means import unequal_means
from merlin_cl.report.text import stored_size, stream_title

PAGE = "docs/fronts.md"
EXEMPLARS = ROOT / "experiments" / "results" / "exemplars"
VIEWS = ("class-incremental", "domain-incremental")
"""Those in which all classes seen compete."""
FEWEST = 5
"""Methods below which a stream has no front worth drawing."""
WIDTH, HEIGHT, MARGIN, TOP = 400.0, 250.0, 46.0, 74.0


class Point(NamedTuple):
    """A method's accuracy, and what it cost."""

    method: str
    accuracy: float
    cost: float


def pages() -> dict[str, str]:
    """Return the page and a figure for each stream."""
    records = read_records()
    sections, figures = [], {}
    for stream in streams_of(records):
        rows = compared([record for record in records if record.result["stream"] == stream])
        if len(rows) < FEWEST:
            continue
        costs = {
            "bytes kept": (
                [Point(r.row.method, _a(r), r.row.stored_bytes) for r in rows if r.row.stored_bytes],
                stored_size,
            ),
            "CPU seconds": ([Point(r.row.method, _a(r), r.cpu_seconds) for r in rows], lambda s: f"{s:.3g} s"),
        }
        figures[f"docs/images/fronts-{stream}.svg"] = figure(
            stream, {name: points for name, (points, _) in costs.items()}
        )
        lines = [
            (
                f"accuracy against {name}",
                ", ".join(f"`{p.method}` ({p.accuracy:.1f}, {told(p.cost)})" for p in front(points)),
            )
            for name, (points, told) in costs.items()
        ]
        picture = f"![Accuracy against bytes and CPU time on {stream}](images/fronts-{stream}.svg)"
        told_of = "\n\n".join(
            [picture, table(("", "on the front, the cheapest first"), lines), *unequal_means(r.row for r in rows)]
        )
        sections.append(f"## {stream_title(stream)}\n\n{told_of}")
    parts = {"fronts": "\n\n".join(sections) or NOTHING, "exemplars": by_exemplars(EXEMPLARS)}
    return {PAGE: filled(PAGE, parts), **figures}


def compared(records: Sequence[Record]) -> list[ResultRow]:
    """Return the best row of every method that where all classes compete, without a budget of its own."""
    best: dict[str, ResultRow] = {}
    for entry in entries(list(records)):
        row = entry.row
        if row.view not in VIEWS or row.inference == "aware" or row.stream_changed or row.changed.get("memory"):
            continue
        if row.mean[A] is None or _ceiling(row.method):
            continue
        if row.method not in best or _a(entry) > _a(best[row.method]):
            best[row.method] = entry
    return list(best.values())


def front(points: Sequence[Point]) -> list[Point]:
    """Return those that no other beats at the same or a lower cost, the cheapest first.

    >>> [p.method for p in front([Point("a", 90, 5), Point("b", 95, 9), Point("c", 89, 7), Point("d", 95, 12)])]
    ['a', 'b']
    """
    points_in_front: list[Point] = []
    for point in sorted(points, key=lambda p: (p.cost, -p.accuracy)):
        if not points_in_front or point.accuracy > points_in_front[-1].accuracy:
            points_in_front.append(point)
    return points_in_front


def figure(stream: str, panels: dict[str, list[Point]]) -> str:
    """Return a panel for each cost, on a logarithmic axis, those on the front named and joined."""
    parts = [text(14, 24, f"{stream_title(stream)}: what accuracy costs", class_="title")]
    parts.append(text(14, 44, "A in percent; joined and named: the front; up and to the left is better", class_="dim"))
    for at, (name, points) in enumerate(panels.items()):
        parts.append(_panel(name, points, MARGIN + at * (WIDTH + MARGIN)))
    label = f"{stream}: " + "; ".join(
        f"{name}: {', '.join(p.method for p in front(ps))}" for name, ps in panels.items()
    )
    style = (
        STYLE + ".{name} .step{{fill:none;stroke:var(--keep);stroke-width:1.6}}.{name} .on .dot{{fill:var(--keep)}}"
        ".{name} .ours .dot{{fill:var(--merlin)}}"
    )
    name = f"fronts-{stream}"
    width, height = 2 * (WIDTH + MARGIN) + MARGIN, TOP + HEIGHT + 52
    return drawing(name, width, height, "\n".join(parts), label, style.format(name=f"fig.{name}"))


def _panel(name: str, points: list[Point], left: float) -> str:
    lows = sorted(point.accuracy for point in points)
    low, high = lows[len(lows) // 4] - 5, lows[-1] + 1  # a floor far below would press all others together
    costs = [math.log10(point.cost) for point in points]
    first, last = min(costs) - 0.1, max(costs) + 0.35

    def place(point: Point) -> tuple[float, float]:
        x = left + WIDTH * (math.log10(point.cost) - first) / (last - first)
        return x, TOP + HEIGHT * (1 - (max(point.accuracy, low) - low) / (high - low))

    best = front(points)
    corners, marks = [place(best[0])], []
    ours_first = sorted((p for p in points if p in best or p.method == "merlin"), key=lambda p: p.method != "merlin")
    names = beside({p.method: place(p) for p in ours_first if p.accuracy >= low}, left + WIDTH)
    for one, other in pairwise(best):
        corners += [(place(other)[0], place(one)[1]), place(other)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in [*corners, (left + WIDTH, corners[-1][1])])
    for point in points:
        x, y = place(point)
        kind = "ours" if point.method == "merlin" else "on" if point in best else "rival"
        told = f"<title>{point.method} {point.accuracy:.1f}</title>"
        words = [text(*names[point.method], point.method, class_="name")] if point.method in names else []
        marks.append(group(told, element("circle", cx=x, cy=y, r=4.2, class_="dot"), *words, class_=kind))
    grid = []
    for tick in range(5 * math.ceil(low / 5), int(high) + 1, 5):
        y = TOP + HEIGHT * (1 - (tick - low) / (high - low))
        grid += [
            line(left, y, left + WIDTH, y, class_="grid"),
            text(left - 6, y + 4, str(tick), class_="dim", text_anchor="end"),
        ]
    for power in range(math.ceil(first), math.floor(last) + 1):
        x = left + WIDTH * (power - first) / (last - first)
        said = stored_size(10**power) if name.startswith("bytes") else f"{10.0**power:g} s"
        grid.append(text(x, TOP + HEIGHT + 18, said, class_="dim", text_anchor="middle"))
    axis = text(left + WIDTH / 2, TOP + HEIGHT + 38, name, class_="dim", text_anchor="middle")
    return group(*grid, axis, element("path", d=path, class_="step"), *marks)


def by_exemplars(folder: Path) -> str:
    """Return a table for each stream: accuracy by method and number of exemplars, the best of a column in bold."""
    sections = []
    for stream in streams_of(records) if (records := read_records(folder)) else []:
        accuracies: dict[str, dict[int, list[float]]] = {}
        for record in records:
            result = record.result
            if result["stream"] != stream:
                continue
            scores = [s for s in result["scores"] if s["view"] in VIEWS and s["inference"] != "aware"]
            own = accuracies.setdefault(result["method"], {}).setdefault(result["exemplars"], [])
            own.append(max(float(score[A]) for score in scores))
        if not accuracies:
            continue
        numbers = sorted({number for of in accuracies.values() for number in of})
        best = {n: max(mean(of[n]) for of in accuracies.values() if n in of) for n in numbers}
        rows = [(f"`{method}`", *(_shown(of, n, best[n]) for n in numbers)) for method, of in accuracies.items()]
        seeds = max(len(values) for of in accuracies.values() for values in of.values())
        headings = ("A with so many exemplars", *(f"{number:,}:" for number in numbers))
        sections.append(f"### {stream_title(stream)}\n\n{table(headings, rows)}\n\nSeeds: up to {seeds}.")
    return "\n\n".join(sections) or NOTHING


def _shown(of: dict[int, list[float]], number: int, best: float) -> str:
    if number not in of:
        return "–"
    value = mean(of[number])
    return f"**{value:.1f}**" if value == best else f"{value:.1f}"


def _a(entry: ResultRow) -> float:
    return float(entry.row.mean[A] or 0.0)


def _ceiling(method: str) -> bool:
    try:
        return method_settings(method).ceiling
    except ValueError:
        return False
