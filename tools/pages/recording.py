"""docs/images/NAME.svg: recordings of terminals, played in the picture; without motion, their end."""

import json
from html import escape
from typing import Any

from tools.pages.markdown import ROOT
from tools.pages.svg import MONO, drawing, element, text
from tools.pages.terminal import Line, Screen, Style

WIDE, HIGH, SIZE = 8.4, 19.0, 13.6
LEFT, TOP = 18.0, 62.0
LONGEST_PAUSE, SECONDS, STILL = 1.0, 14.0, 5.0
"""A wait is shown no longer than the first; the whole takes the second, and its end stays for the third."""
FRAMES = 70
ROWS = 26
"""Of the end of what was written."""


def pages() -> dict[str, str]:
    """Return all recordings as pictures."""
    files = sorted((ROOT / "results" / "recordings").glob("*.json"))
    return {f"docs/images/{file.stem}.svg": drawn(file.stem, json.loads(file.read_text("utf-8"))) for file in files}


def drawn(name: str, recording: dict[str, Any]) -> str:
    """Return a recording as a picture that plays it."""
    moments, screens = frames(recording["written"], recording["columns"])
    rows = max(map(len, screens))
    columns = recording["columns"]
    width, height = 2 * LEFT + WIDE * columns, TOP + HIGH * rows + 8
    whole = moments[-1] + STILL
    rules, parts = [], []
    for row in range(rows):
        for line, since, until in _spans([screen[row] if row < len(screen) else () for screen in screens], moments):
            if not line:
                continue
            last = until is None
            shown = "".join(_run(run.column, run.text, run.style, row) for run in line)
            mark = f"r{len(rules)}"
            ends = "" if last else f"{100 * until / whole:.2f}%{{opacity:0}}"
            rules.append(
                f"@keyframes {name}-{mark}{{0%{{opacity:0}}{100 * since / whole:.2f}%{{opacity:1}}{ends}}}"
                f".fig.{name} .{mark}{{animation:{name}-{mark} {whole:.1f}s step-end infinite}}"
                + ("" if last else f".fig.{name} .{mark}{{opacity:0}}")
            )
            parts.append(element("g", shown, class_=mark))
    style = (
        f".fig.{name} text{{font-family:{MONO};font-size:{SIZE}px;white-space:pre}}"
        + "".join(rules)
        + f"@media (prefers-reduced-motion:reduce){{.fig.{name} *{{animation:none!important}}}}"
    )
    window = element(
        "rect", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=10, fill="var(--panel)", stroke="var(--line)"
    )
    lights = "".join(element("circle", cx=22.0 + 18 * at, cy=20.0, r=5.5, fill="var(--line)") for at in range(3))
    asked = text(LEFT, 50, f"$ {recording['command']}", font_weight=650)
    said = "\n".join("".join(run.text for run in line) for line in screens[-1] if line)
    title = f"A recording of {recording['command']}; its end: {' '.join(said.split())[:600]}"
    return drawing(name, width, height, "\n".join([window, lights, asked, *parts]), title, style)


def frames(written: list[tuple[float, str]], columns: int) -> tuple[list[float], list[list[Line]]]:
    """Return moments, pauses cut and the whole brought to a length, and what the screen shows from each on."""
    screen, clock, before = Screen(columns), 0.4, 0.0
    moments: list[float] = []
    screens: list[list[Line]] = []
    for moment, data in written:
        clock += min(moment - before, LONGEST_PAUSE)
        before = moment
        screen.write(data)
        moments.append(clock)
        screens.append(screen.lines()[-ROWS:])
    step = max(1, -(-len(moments) // FRAMES))
    kept = sorted({*range(0, len(moments), step), len(moments) - 1})
    scale = min(1.0, SECONDS / moments[-1])
    return [moments[at] * scale for at in kept], [screens[at] for at in kept]


def _spans(lines: list[Line], moments: list[float]) -> list[tuple[Line, float, float | None]]:
    """Return what one row shows, since when and until when."""
    spans: list[tuple[Line, float, float | None]] = []
    for line, moment in zip(lines, moments, strict=True):
        if spans and spans[-1][0] == line:
            continue
        if spans:
            spans[-1] = (spans[-1][0], spans[-1][1], moment)
        spans.append((line, moment, None))
    return spans


def _run(column: int, words: str, style: Style, row: int) -> str:
    words = words.rstrip()
    colour = "dim" if style.dim and style.colour == "ink" else style.colour
    return element(
        "text",
        escape(words),
        x=LEFT + WIDE * column,
        y=TOP + HIGH * row + 14,
        textLength=WIDE * len(words),
        lengthAdjust="spacingAndGlyphs",
        style=None if colour == "ink" else f"fill:var(--{colour})",
        font_weight=650 if style.bold else None,
    )
