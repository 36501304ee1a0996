"""Figures of results: a stream's methods as dots with their intervals, and all methods on all streams as a map."""

import math
from collections.abc import Callable, Iterable, Sequence

from tools.pages.records import A
from tools.pages.svg import drawing, element, group, line, number, text

from merlin_cl.metrics import mean
from merlin_cl.report.ranking import Place
from merlin_cl.report.summary import Row
from merlin_cl.report.text import NONE, stored_size

CONTROLS = ("gdumb-ensemble", "lookup")
WIDTH = 720.0
MAP_WIDTH = 900.0
STEP = 22.0
NEAR = 0.97
"""Of the way from the worst of a stream to the best: cells beyond it stand out."""
STYLE = (
    ".{name} text{{font-size:13px}}.{name} .name{{font-family:ui-monospace,Menlo,Consolas,monospace}}"
    ".{name} .title{{font-size:16px;font-weight:650}}"
    ".{name} .dot{{fill:var(--other)}}.{name} .bar{{stroke:var(--other);stroke-width:2}}"
    ".{name} .ours .dot{{fill:var(--merlin)}}.{name} .ours .bar{{stroke:var(--merlin)}}"
    ".{name} .ours text{{fill:var(--merlin);font-weight:650}}"
    ".{name} .control .dot{{fill:var(--keep)}}.{name} .control .bar{{stroke:var(--keep)}}"
    ".{name} .seed{{fill:none;stroke:var(--other);stroke-width:1.4}}.{name} .ours .seed{{stroke:var(--merlin)}}"
    ".{name} .control .seed{{stroke:var(--keep)}}"
    ".{name} .ceiling{{stroke:var(--dim);stroke-dasharray:5 4}}.{name} .grid{{stroke:var(--line)}}"
)


def shown(places: Sequence[Place], most: int | None = None) -> list[Place]:
    """Return the rows with a rank, at most so many; ours and the controls are always among them."""
    rows = [place for place in places if place.rank is not None]
    if most is None or len(rows) <= most:
        return rows
    kept = [place for place in rows if place.row.method in ("merlin", *CONTROLS)]
    others = [place for place in rows if place not in kept][: max(0, most - len(kept))]
    return [place for place in rows if place in kept or place in others]


def dot_plot(places: Sequence[Place], title: str, name: str, most: int | None = None, width: float = WIDTH) -> str:
    """Return every method's accuracy, the best first: an interval where there are five seeds, else a ring a seed."""
    rows = shown(places, most)
    ceilings = [place.row for place in places if place.apart == "ceiling"][:1]
    values = [value for place in rows for value in _extent(place.row)] + [row.mean[A] or 0.0 for row in ceilings]
    if not values:
        return ""
    low, high = _ends(values)
    left, right, top = _room(place.row.method for place in rows) + 46, width - 96.0, 88.0
    bottom = top + STEP * len(rows)

    def x(value: float) -> float:
        return left + (right - left) * (value - low) / (high - low)

    told = _legend(rows, len(rows) < len(shown(places)))
    parts = [text(14, 24, title, class_="title")]
    parts += [text(14, 44 + 18 * at, words, class_="dim") for at, words in enumerate(told)]
    for tick in _ticks(low, high):
        parts += [
            line(x(tick), top - 8, x(tick), bottom, class_="grid"),
            text(x(tick), bottom + 18, f"{tick:g}", class_="dim", text_anchor="middle"),
        ]
    parts.append(text(right + 14, top - 6, "kept", class_="dim"))
    for ceiling in ceilings:
        at = x(ceiling.mean[A] or 0.0)
        parts += [
            line(at, top - 8, at, bottom, class_="ceiling"),
            text(
                at - 5, bottom + 34, f"{ceiling.method} {ceiling.mean[A]:.1f}, ceiling", class_="dim", text_anchor="end"
            ),
        ]
    parts += [_method(place.row, top + STEP * at + 10, x, left, right) for at, place in enumerate(rows)]
    label = f"{title}: " + ", ".join(f"{place.row.method} {place.row.mean[A]:.1f}" for place in rows)
    height = bottom + (44 if ceilings else 28)
    return drawing(name, width, height, "\n".join(parts), label, STYLE.format(name=f"fig.{name}"))


def _method(row: Row, y: float, x: Callable[[float], float], left: float, right: float) -> str:
    kind = "ours" if row.method == "merlin" else "control" if row.method in CONTROLS else "rival"
    middle, sure = row.mean[A] or 0.0, row.interval(A)
    marks = []
    if sure is not None:
        marks.append(line(x(sure[0]), y, x(sure[1]), y, class_="bar"))
    else:
        marks += [element("circle", cx=x(value), cy=y, r=3.2, class_="seed") for value in row.values[A].values()]
    if len(row.seeds) > 1:
        marks.append(element("circle", cx=x(middle), cy=y, r=4.6, class_="dot"))
    told = f"{row.method} {middle:.2f}, {len(row.seeds)} seeds"
    return group(
        f"<title>{told}</title>",
        text(left - 50, y + 4.5, row.method, class_="name", text_anchor="end"),
        text(left - 10, y + 4.5, f"{middle:.1f}", text_anchor="end"),
        *marks,
        text(right + 14, y + 4.5, stored_size(row.stored_bytes), class_="dim"),
        class_=kind,
    )


def _legend(rows: Sequence[Place], left_out: bool) -> list[str]:
    sure = any(place.row.interval(A) is not None for place in rows)
    rings = any(place.row.interval(A) is None for place in rows)
    first = f"Average incremental accuracy, %{'; some methods left out' if left_out else ''}"
    marks = ["dot, bar: mean, 95 % interval"] if sure else []
    marks += ["ring: a seed, where there are under five"] if rings else []
    return [first, "; ".join(marks)]


def _room(names: Iterable[str]) -> float:
    """Return the width that names take at the left, in letters of one width."""
    return 14.0 + 8 * max(map(len, names))


def _extent(row: Row) -> list[float]:
    return [*(row.interval(A) or ()), *row.values[A].values()]


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = 5 * math.floor(min(values) / 5), 5 * math.ceil(max(values) / 5)
    return max(0.0, float(low)), min(100.0, float(high if high > low else low + 5))


def _ticks(low: float, high: float) -> list[float]:
    step = next(step for step in (1, 2, 5, 10, 20) if (high - low) / step <= 7)
    return [float(tick) for tick in range(math.ceil(low / step) * step, int(high) + 1, step)]


def heat_map(cells: dict[str, dict[str, float]], streams: Sequence[tuple[str, str]], title: str, name: str) -> str:
    """Return methods by streams, each cell shaded by its place between the worst and the best of its stream.

    `cells` has accuracies by method and stream; `streams` are names with their titles. Methods come by their mean place.
    """
    if not cells:
        return ""
    left, top, step = _room(cells) + 10, 168.0, 24.0
    cell = min(72.0, (MAP_WIDTH - left - 110) / max(1, len(streams)))
    span = {stream: [row[stream] for row in cells.values() if stream in row] for stream, _ in streams}
    methods = sorted(cells, key=lambda method: -_standing(cells[method], span))
    parts = [text(14, 24, title, class_="title")]
    parts.append(
        text(
            14, 43, "The stronger the colour, the nearer to the best of its column; – refused or not run", class_="dim"
        )
    )
    for at, (_, words) in enumerate(streams):
        x = left + cell * (at + 0.5)
        parts.append(
            element("text", words, transform=f"translate({number(x)} {number(top - 10)}) rotate(-40)", class_="dim")
        )
    for at, method in enumerate(methods):
        y = top + step * at
        kind = "ours" if method == "merlin" else "rival"
        row = [text(left - 12, y + 16, method, class_="name", text_anchor="end")]
        for column, (stream, _) in enumerate(streams):
            row.append(_cell(cells[method].get(stream), span[stream], left + cell * column, y, cell, step))
        parts.append(group(*row, class_=kind))
    style = STYLE + (
        ".{name} .box{{fill:var(--merlin)}}.{name} .rival .value,.{name} .ours .value{{font-size:12px;fill:var(--ink);"
        "font-weight:400}}.{name} .rival .value.on,.{name} .ours .value.on{{fill:var(--ground)}}"
    )
    height = top + step * len(methods) + 14
    return drawing(name, MAP_WIDTH, height, "\n".join(parts), title, style.format(name=f"fig.{name}"))


def _cell(value: float | None, column: list[float], x: float, y: float, width: float, height: float) -> str:
    if value is None:
        return text(x + width / 2, y + 16, NONE, class_="dim", text_anchor="middle")
    share = _share(value, column)
    near = share > NEAR  # in between no colour of text would be legible
    box = element(
        "rect",
        x=x + 1,
        y=y + 1,
        width=width - 2,
        height=height - 2,
        rx=3,
        class_="box",
        fill_opacity="0.92" if near else f"{0.03 + 0.37 * share:.2f}",
    )
    place = "value on" if near else "value"
    return box + text(x + width / 2, y + 16, f"{value:.1f}", class_=place, text_anchor="middle")


def _share(value: float, column: list[float]) -> float:
    low, high = min(column), max(column)
    return 1.0 if high == low else (value - low) / (high - low)


def _standing(row: dict[str, float], span: dict[str, list[float]]) -> float:
    """Return the mean over a method's streams of the share of methods that it is no worse than."""
    return mean([sum(value >= other for other in span[stream]) / len(span[stream]) for stream, value in row.items()])


def beside(points: dict[str, tuple[float, float]], left: float, right: float) -> dict[str, tuple[float, float]]:
    """Return where the names of points are written so that none lies over another or leaves the room from `left` to `right`.

    >>> beside({"one": (50.0, 50.0), "two": (51.0, 50.0)}, 0.0, 100.0)
    {'one': (57.0, 44.0), 'two': (20.0, 44.0)}
    >>> beside({"one": (10.0, 50.0), "two": (11.0, 50.0)}, 0.0, 100.0)
    {'one': (17.0, 44.0), 'two': (18.0, 65.0)}
    """
    taken: list[tuple[float, float, float, float]] = []
    places = {}
    for name, (x, y) in points.items():
        wide = 8.0 * len(name)
        starts = [start for start in (x + 7, x - 7 - wide) if left <= start <= right - wide]
        for start, base in ((start, y + dy) for dy in (-6, 15, -20, 29, -34) for start in starts):
            box = (start, base - 12, start + wide, base + 3)
            if all(box[2] < o[0] or o[2] < box[0] or box[3] < o[1] or o[3] < box[1] for o in taken):
                taken.append(box)
                places[name] = (start, base)
                break
    return places
