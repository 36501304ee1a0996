"""Accuracy against the bytes that methods keep: who has most for how much."""

import math
from collections.abc import Sequence

from tools.pages.charts import CONTROLS, STYLE, WIDTH
from tools.pages.records import A
from tools.pages.svg import drawing, element, group, line, text

from merlin_cl.report.ranking import Place
from merlin_cl.report.summary import Row
from merlin_cl.report.text import size

HEIGHT = 360.0
LETTER = 7.4
"""The width of a letter of a label, about; a little too much rather than too little."""

Box = tuple[float, float, float, float]


def on_front(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that none beats in accuracy with as few bytes, the smallest first."""
    ordered = sorted(rows, key=lambda row: (row.stored_bytes or 0.0, -(row.mean[A] or 0.0)))
    best, kept = -math.inf, []
    for row in ordered:
        if (row.mean[A] or 0.0) > best:
            best = row.mean[A] or 0.0
            kept.append(row)
    return kept


def front(places: Sequence[Place], title: str, name: str) -> str:
    """Return every method by the bytes it keeps (in powers of ten) and its accuracy, with the front drawn through."""
    rows = [place.row for place in places if place.rank is not None and place.row.stored_bytes and place.row.mean[A]]
    if len(rows) < 3:
        return ""
    left, right, top, bottom = 56.0, WIDTH - 24, 66.0, HEIGHT - 44
    sizes = [math.log10(row.stored_bytes or 1.0) for row in rows]
    few, many = math.floor(min(sizes) * 4) / 4 - 0.1, math.ceil(max(sizes) * 4) / 4 + 0.1
    values = [row.mean[A] or 0.0 for row in rows]
    low, high = 10 * math.floor(min(values) / 10), min(100, 10 * math.ceil(max(values) / 10))

    def at(row: Row) -> tuple[float, float]:
        x = left + (right - left) * (math.log10(row.stored_bytes or 1.0) - few) / (many - few)
        return x, bottom - (bottom - top) * ((row.mean[A] or 0.0) - low) / (high - low)

    parts = [
        text(14, 24, title, class_="title"),
        text(14, 44, "Accuracy (A, %) against bytes kept between tasks", class_="dim"),
    ]
    for tick in range(low, high + 1, 10):
        y = bottom - (bottom - top) * (tick - low) / (high - low)
        parts += [
            line(left, y, right, y, class_="grid"),
            text(left - 8, y + 4, str(tick), class_="dim", text_anchor="end"),
        ]
    for power in range(math.ceil(few), math.floor(many) + 1):
        x = left + (right - left) * (power - few) / (many - few)
        parts += [
            line(x, top, x, bottom, class_="grid"),
            text(x, bottom + 20, size(10**power).replace(".0", ""), class_="dim", text_anchor="middle"),
        ]
    edge = on_front(rows)
    steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(at, edge))
    parts.append(element("polyline", points=steps, class_="edge"))
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in map(at, rows)]
    labelled = sorted(rows, key=lambda row: (row.method != "merlin", row not in edge, row.method not in CONTROLS))
    for row in labelled:
        x, y = at(row)
        kind = "ours" if row.method == "merlin" else "control" if row.method in CONTROLS else "rival"
        marks = [element("circle", cx=x, cy=y, r=5.5 if row.method == "merlin" else 4.5, class_="dot")]
        if (place := _free(row.method, x, y, taken, (left, top, right, bottom))) is not None:
            taken.append(place)
            marks.append(text(place[0], place[3] - 4, row.method, class_="name"))
        parts.append(
            group(f"<title>{row.method} {row.mean[A]:.1f}, {size(row.stored_bytes or 0)}</title>", *marks, class_=kind)
        )
    label = f"{title}, by bytes: on the front are {', '.join(row.method for row in edge)}"
    style = STYLE + ".{name} .edge{{fill:none;stroke:var(--merlin);stroke-width:1.6;stroke-dasharray:3 4}}"
    return drawing(name, WIDTH, HEIGHT, "\n".join(parts), label, style.format(name=f"fig.{name}"))


def _free(name: str, x: float, y: float, taken: Sequence[Box], frame: Box) -> Box | None:
    """Return where a label fits beside its point without touching what is there; None where it does not."""
    wide = LETTER * len(name) + 12
    sides = (9, -wide - 9)
    beside = [(dx, dy) for dy in (-8, -22, 6) for dx in sides]
    above = [(dx, dy) for dx in (-wide / 2, -12, 12 - wide) for dy in (-24, 9)]
    for dx, dy in (*beside[:2], *above, *beside[2:]):
        box = (x + dx, y + dy, x + dx + wide, y + dy + 16)
        inside = box[0] >= frame[0] and box[2] <= frame[2] and box[1] >= frame[1] - 6 and box[3] <= frame[3]
        if inside and all(box[2] < o[0] or o[2] < box[0] or box[3] < o[1] or o[3] < box[1] for o in taken):
            return box
    return None
