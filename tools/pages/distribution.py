"""docs/distribution.md: what its blocks printed, and figures of what they found, from experiments/results/distribution/."""

import json
from typing import Any

from tools.pages.markdown import NOTHING, ROOT, filled
from tools.pages.svg import drawing, element, group, line, text

RECORD = ROOT / "experiments" / "results" / "distribution" / "page.json"
TASKS = ("stream", "merlin", "leaf", "keep")
"""The colour of every task."""
PARTS = ("learned", "plane", "disagreement", "models")
CLASSES = 8
BINS = 12


def pages() -> dict[str, str]:
    """Return the page and its figures."""
    if not RECORD.exists():
        return {"docs/distribution.md": filled("docs/distribution.md", dict.fromkeys(PARTS, NOTHING))}
    record = json.loads(RECORD.read_text("utf-8"))
    figures = {
        "plane": ("Draws from the priors of four tasks, two numbers of z", plane(record["plane"])),
        "disagreement": ("Epistemic uncertainty of known digits and of 8 and 9", disagreement(record)),
        "models": ("Two inputs and what twelve sampled models say of each", models(record["asked"])),
    }
    parts = {}
    for name in PARTS:
        printed = "```text\n" + "\n".join(record["printed"][name]) + "\n```"
        image = f"\n\n![{figures[name][0]}](images/distribution-{name}.svg)" if name in figures else ""
        parts[name] = printed + image
    drawn = {f"docs/images/distribution-{name}.svg": figure for name, (_, figure) in figures.items()}
    return {"docs/distribution.md": filled("docs/distribution.md", parts), **drawn}


def plane(points: list[list[list[float]]]) -> str:
    """Return the draws of every task in a panel of its own, all on the same axes."""
    size, gap, left, top = 164.0, 14.0, 12.0, 56.0
    ends = [
        (min(p[axis] for task in points for p in task), max(p[axis] for task in points for p in task))
        for axis in (0, 1)
    ]

    def at(value: float, axis: int) -> float:
        low, high = ends[axis]
        return 10 + (size - 20) * (value - low) / ((high - low) or 1.0)

    parts = [text(left, 22, "Two numbers of z, 240 draws from p(z | t) of every task", class_="title")]
    for task, drawn in enumerate(points):
        x = left + (size + gap) * task
        dots = [
            element(
                "circle", cx=x + at(one[0], 0), cy=top + size - at(one[1], 1), r=2.1, fill=f"var(--{TASKS[task % 4]})"
            )
            for one in drawn
        ]
        frame = element("rect", x=x, y=top, width=size, height=size, rx=8, class_="axis")
        parts.append(group(frame, text(x + 2, top - 8, f"t = {task + 1}", class_="dim"), *dots))
    style = _style("distribution-plane", ".{name} circle{{fill-opacity:.55}}")
    width = 2 * left + size * len(points) + gap * (len(points) - 1)
    return drawing("distribution-plane", width, top + size + 8, "\n".join(parts), "Draws from p(z | t)", style)


def disagreement(record: dict[str, Any]) -> str:
    """Return how often models disagree how much, on known digits above and on strange ones below."""
    high = max(*record["sure"], *record["unsure"])
    width, left, top, tall = 640.0, 100.0, 54.0, 80.0
    parts = [text(12, 22, "What sampled models disagree on, nats", class_="title")]
    for row, (name, values, colour) in enumerate(
        (("0 to 7", record["sure"], "stream"), ("8 and 9", record["unsure"], "bad"))
    ):
        counts = [0] * BINS
        for value in values:
            counts[min(BINS - 1, int(BINS * value / high))] += 1
        base, wide = top + (tall + 22) * (row + 1) - 22, (width - left - 20) / BINS
        parts.append(text(12, base - 4, name))
        for at, count in enumerate(counts):
            share = count / max(counts)
            parts.append(
                element(
                    "rect",
                    x=left + wide * at + 1,
                    y=base - tall * share,
                    width=wide - 2,
                    height=tall * share,
                    rx=2,
                    fill=f"var(--{colour})",
                )
            )
        parts.append(line(left, base, width - 20, base, class_="axis"))
    bottom = top + 2 * (tall + 22) - 22
    for share in (0, 0.5, 1):
        x = left + (width - left - 20) * share
        parts.append(text(x, bottom + 18, f"{high * share:.1f}", class_="dim", text_anchor="middle"))
    style = _style("distribution-disagreement")
    return drawing("distribution-disagreement", width, bottom + 28, "\n".join(parts), "Epistemic uncertainty", style)


def models(inputs: list[dict[str, Any]]) -> str:
    """Return two inputs, and a column of probabilities for each of twelve models."""
    cell, left, top, tall = 30.0, 210.0, 58.0, 20.0
    parts, y = [text(12, 22, "Twelve sampled models, what each says", class_="title")], top
    for one, name in zip(inputs, ("of the classes learned", "of none of them"), strict=True):
        parts.append(text(12, y + 4, f"a digit {name}", class_="dim"))
        pixels = [
            element(
                "rect",
                x=12 + 10.0 * column,
                y=y + 16 + 10.0 * row,
                width=10.2,
                height=10.2,
                fill_opacity=f"{value / 255:.2f}",
            )
            for row, values in enumerate(one["image"])
            for column, value in enumerate(values)
            if value
        ]
        frame = element("rect", x=12.0, y=y + 16, width=140.0, height=140.0, rx=6, class_="axis")
        parts.append(group(frame, *pixels, class_="pixels"))
        for label in range(CLASSES):
            parts.append(text(left - 14, y + 20 + tall * label + 10, str(label), text_anchor="middle"))
        for at, (classes, shares) in enumerate(one["said"]):
            for label in range(CLASSES):
                share = shares[classes.index(label)] if label in classes else 0.0
                box = {"x": left + cell * at, "y": y + 16 + tall * label, "width": cell - 3, "height": tall - 3}
                parts.append(element("rect", **box, rx=3, class_="track"))
                if share >= 0.005:
                    parts.append(element("rect", **box, rx=3, class_="share", fill_opacity=f"{share:.2f}"))
        y += 16 + tall * CLASSES + 30
    more = ".{name} .pixels rect:not(.axis){{fill:var(--ink)}}.{name} .track{{fill:var(--panel)}}"
    more += ".{name} .share{{fill:var(--merlin)}}"
    width = left + cell * len(inputs[0]["said"]) + 12
    style = _style("distribution-models", more)
    return drawing("distribution-models", width, y - 12, "\n".join(parts), "What sampled models say", style)


def _style(name: str, more: str = "") -> str:
    base = ".{name} text{{font-size:13px}}.{name} .title{{font-size:15px;font-weight:650}}"
    return (base + more).format(name=f"fig.{name}")
