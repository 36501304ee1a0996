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

from merlin_cl.metrics import mean
from merlin_cl.report.means import unequal_means
from merlin_cl.report.summary import Row, first_answers, is_ceiling
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
            "CPU seconds": ([Point(r.row.method, _a(r), r.cpu_seconds) for r in rows], cpu_time),
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
    sections_by_exemplars, figures_by_exemplars = by_exemplars(EXEMPLARS)
    parts = {"fronts": "\n\n".join(sections) or NOTHING, "exemplars": sections_by_exemplars}
    return {PAGE: filled(PAGE, parts), **figures, **figures_by_exemplars}


def compared(records: Sequence[Record]) -> list[ResultRow]:
    """Return a row for every method where all classes compete: its first answer with the stream's own settings.

    Where these were not run it is the row with the fewest others: what is compared is not chosen by its accuracy.
    """
    rows = [entry for entry in entries(list(records)) if _takes_part(entry.row)]
    answers = {id(row) for row in first_answers(entry.row for entry in rows)}
    own: dict[str, ResultRow] = {}
    for entry in sorted(rows, key=lambda entry: (len(entry.row.changed), -len(entry.row.seeds))):
        if id(entry.row) in answers:
            own.setdefault(entry.row.method, entry)
    return list(own.values())


def _takes_part(row: Row) -> bool:
    if row.view not in VIEWS or row.inference == "aware" or row.stream_changed or row.changed.get("memory"):
        return False
    return row.mean[A] is not None and not is_ceiling(row.method)


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
    names = beside({p.method: place(p) for p in ours_first if p.accuracy >= low}, left, left + WIDTH)
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


def by_exemplars(folder: Path) -> tuple[str, dict[str, str]]:
    """Return a section for each stream, accuracy by method and number of exemplars, and its figures."""
    sections, figures = [], {}
    records = read_records(folder)
    for stream in dict.fromkeys(record.result["stream"] for record in records):
        points = exemplar_points([record for record in records if record.result["stream"] == stream])
        numbers = sorted({number for of in points.values() for number in of})
        best = {n: max(of[n] for of in points.values() if n in of) for n in numbers}
        rows = [
            (f"`{method}`", *(_shown(of.get(n), best[n]) for n in numbers))
            for method, of in sorted(points.items(), key=lambda item: -mean(list(item[1].values())))
        ]
        on_front = front([Point(method, a, number) for method, of in points.items() for number, a in of.items()])
        told = ", ".join(f"`{p.method}` with {p.cost:,.0f} ({p.accuracy:.1f})" for p in on_front)
        seeds = {record.result["seed"] for record in records if record.result["stream"] == stream}
        figures[f"docs/images/exemplars-{stream}.svg"] = exemplar_figure(stream, points)
        sections.append(
            f"### {stream_title(stream)}\n\n![Accuracy against exemplars on {stream}](images/exemplars-{stream}.svg)\n\n"
            f"On the front: {told}. {'One seed' if len(seeds) == 1 else f'{len(seeds)} seeds'}.\n\n"
            + table(("A with so many exemplars", *(f"{number:,}:" for number in numbers)), rows)
        )
    return "\n\n".join(sections) or NOTHING, figures


def exemplar_points(records: Sequence[Record]) -> dict[str, dict[int, float]]:
    """Return the mean accuracy of each method's first answer by its number of exemplars, the fewest first."""
    values: dict[str, dict[int, list[float]]] = {}
    for record in sorted(records, key=lambda record: record.result["exemplars"]):
        first = next(s for s in record.result["scores"] if s["view"] in VIEWS and s["inference"] != "aware")
        of = values.setdefault(record.result["method"], {})
        of.setdefault(record.result["exemplars"], []).append(float(first[A]))
    return {method: {number: mean(seeds) for number, seeds in of.items()} for method, of in values.items()}


def exemplar_figure(stream: str, points: dict[str, dict[int, float]]) -> str:
    """Return a line for every method over the logarithm of the number of exemplars; MERLIN and the best of a number are named."""
    numbers = sorted({number for of in points.values() for number in of})
    lows = sorted(value for of in points.values() for value in of.values())
    low, high = lows[len(lows) // 6] - 3, lows[-1] + 1
    width, height, right = 2 * WIDTH - 100, HEIGHT + 90, 130
    span = math.log(numbers[-1] / numbers[0]) or 1.0

    def place(number: int, accuracy: float) -> tuple[float, float]:
        x = MARGIN + width * math.log(number / numbers[0]) / span
        return x, TOP + height * (1 - (max(accuracy, low) - low) / (high - low))

    best = {max((m for m in points if n in points[m]), key=lambda m: points[m][n]) for n in numbers}
    named = sorted(best | {"merlin"} & set(points), key=lambda method: (method != "merlin", method))
    ends = {method: place(number := max(points[method]), points[method][number]) for method in named}
    names = beside(ends, MARGIN, MARGIN + width + right)
    parts = [
        text(14, 24, f"{stream_title(stream)}: how many exemplars a method needs", class_="title"),
        text(14, 44, "A in percent by exemplars kept; named: MERLIN and the best of every number", class_="dim"),
    ]
    for tick in range(5 * math.ceil(low / 5), int(high) + 1, 5):
        y = place(numbers[0], tick)[1]
        parts.append(line(MARGIN, y, MARGIN + width, y, class_="grid"))
        parts.append(text(MARGIN - 6, y + 4, str(tick), class_="dim", text_anchor="end"))
    for number in numbers:
        x, _ = place(number, low)
        parts.append(text(x, TOP + height + 18, f"{number:,}", class_="dim", text_anchor="middle"))
    for method, of in sorted(points.items(), key=lambda item: (item[0] == "merlin", item[0] in best)):
        kind = "ours" if method == "merlin" else "on" if method in best else "rival"
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*point) for point in of.items()))
        words = [text(*names[method], method, class_="name")] if method in names else []
        parts.append(group(f"<title>{method}</title>", element("path", d=path, class_="course"), *words, class_=kind))
    label = f"{stream}: accuracy by number of exemplars; best: {', '.join(sorted(best))}"
    style = STYLE + (
        ".{name} .course{{fill:none;stroke:var(--line);stroke-width:1.4}}.{name} .on .course{{stroke:var(--keep);"
        "stroke-width:2}}.{name} .ours .course{{stroke:var(--merlin);stroke-width:2.4}}"
    )
    name = f"exemplars-{stream}"
    return drawing(
        name, MARGIN + width + right, TOP + height + 30, "\n".join(parts), label, style.format(name=f"fig.{name}")
    )


def cpu_time(seconds: float) -> str:
    """A time in words of a table, two digits of it.

    >>> [cpu_time(seconds) for seconds in (0.0824, 12.44, 96.6, 385, 4020, 36000)]
    ['0.082 s', '12 s', '97 s', '6.4 min', '67 min', '10 h']
    """
    for unit, length, most in (("s", 1, 120), ("min", 60, 120 * 60), ("h", 3600, math.inf)):
        if seconds < most:
            return f"{float(f'{seconds / length:.2g}'):g} {unit}"
    raise ValueError(f"{seconds} seconds are no time")


def _shown(value: float | None, best: float) -> str:
    if value is None:
        return "–"
    return f"**{value:.1f}**" if value == best else f"{value:.1f}"


def _a(entry: ResultRow) -> float:
    return float(entry.row.mean[A] or 0.0)
