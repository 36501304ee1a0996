"""docs/images/method*.svg: MERLIN in one picture, moving and still, wide and for a phone.

What is drawn is what `src/merlin_cl/learners/merlin/` does: examples arrive once; a task's base models are points z of latent
spaces whose starts a seed regenerates; its prior p(z | t) is a mixture with a component a start; all priors share a fixed number
of bytes, so that earlier ones become coarser and then lose components; models are drawn from them and answer together;
exemplars stand beside it, for base models to rehearse and for consolidation to be fitted on.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from tools.pages.svg import MONO, drawing, element, group, line, number, text

SECONDS = 22
TASKS = ("stream", "merlin", "leaf")
"""The colour of every task."""
STARTS = 3
DIGITS = {
    "0": "01110 10001 10011 10101 11001 10001 01110",
    "1": "00100 01100 00100 00100 00100 00100 01110",
    "2": "01110 10001 00001 00110 01000 10000 11111",
    "3": "11110 00001 00001 01110 00001 00001 11110",
    "4": "00010 00110 01010 10010 11111 00010 00010",
    "5": "11111 10000 11110 00001 00001 10001 01110",
}
TITLE = (
    "MERLIN: a stream of tasks is seen once; base models learn each task as points z of a seeded latent space; "
    "the prior p(z | t) of a task is a mixture over starts; all priors share a fixed number of bytes, so earlier ones are "
    "consolidated; models sampled from them answer together; a few exemplars are kept beside them"
)


@dataclass
class Motion:
    """When things are seen: CSS that animates classes over one round; nothing moves where a reader asks for no motion."""

    name: str
    moving: bool
    rules: list[str] = field(default_factory=list)

    def seen(self, since: float, until: float | None = None, faint: float = 0.0) -> str:
        """Return a class that is seen from one share of the round on, until another; the end is as without motion."""
        name = f"s{len(self.rules)}"
        if not self.moving:
            self.rules.append("")
            return name if until is None else f"{name} gone"
        ends = f"{_percent(since)}{{opacity:{faint:g}}}{_percent(since + 0.025)}{{opacity:1}}"
        if until is None:
            frames = f"0%{{opacity:{faint:g}}}{ends}98.5%{{opacity:1}}100%{{opacity:{faint:g}}}"
        else:
            frames = f"0%{{opacity:0}}{ends}{_percent(until)}{{opacity:1}}{_percent(until + 0.02)}{{opacity:0}}100%{{opacity:0}}"
        self._add(name, frames)
        return name if until is None else f"{name} gone"

    def moved(self, since: float, until: float, x: float, y: float) -> str:
        """Return a class that comes from (x, y) off its place and is there at `until`."""
        name = f"s{len(self.rules)}"
        away = f"transform:translate({number(x)}px,{number(y)}px)"
        self._add(
            name, f"0%{{{away}}}{_percent(since)}{{{away}}}{_percent(until)}{{transform:none}}100%{{transform:none}}"
        )
        return name

    def grown(self, steps: list[tuple[float, float]]) -> str:
        """Return a class whose width goes through steps (share of the round, share of the width); it ends whole."""
        name = f"s{len(self.rules)}"
        frames = "".join(f"{_percent(at)}{{transform:scaleX({share:.3f})}}" for at, share in steps)
        self._add(name, frames, "transform-box:fill-box;transform-origin:left;")
        return name

    def _add(self, name: str, frames: str, more: str = "") -> None:
        if not self.moving:
            self.rules.append("")
            return
        self.rules.append(
            f"@keyframes {self.name}-{name}{{{frames}}}"
            f".fig.{self.name} .{name}{{{more}animation:{self.name}-{name} {SECONDS}s ease-in-out -1s infinite}}"
        )

    @property
    def style(self) -> str:
        """All rules."""
        stopped = f"@media (prefers-reduced-motion:reduce){{.fig.{self.name} *{{animation:none!important}}}}"
        return "".join(self.rules) + (stopped if self.moving else "")


def pages() -> dict[str, str]:
    """Return all four pictures."""
    return {
        "docs/images/method.svg": picture(moving=True),
        "docs/images/method-still.svg": picture(moving=False),
        "docs/images/method-tall.svg": picture(moving=True, tall=True),
        "docs/images/method-tall-still.svg": picture(moving=False, tall=True),
    }


def picture(moving: bool, tall: bool = False) -> str:
    """Return MERLIN in one picture."""
    name = f"method{'-tall' if tall else ''}{'' if moving else '-still'}"
    motion = Motion(name, moving)
    panels: list[Callable[[Motion], str]] = [stream, base_models, distribution, answer, exemplars, memory]
    if tall:
        width, height = 576.0, 884.0
        places = [(0, 0), (300, 0), (0, 330), (300, 330), (0, 656), (0, 776)]
        arrows = [_arrow(276, 160, 297, 160), _arrow(276, 490, 297, 490), _bent(438, 304, 138, 327)]
    else:
        width, height = 1176.0, 440.0
        places = [(0, 0), (300, 0), (600, 0), (900, 0), (0, 332), (600, 332)]
        arrows = [_arrow(x, 160, x + 21, 160) for x in (276, 576, 876)]
        arrows += [_arrow(438, 332, 438, 307, "keep"), _arrow(576, 386, 597, 386, "keep")]
    parts = [
        group(panel(motion), transform=f"translate({x} {y})") for panel, (x, y) in zip(panels, places, strict=True)
    ]
    own = f".fig.{name}"
    style = (
        f"{own} .head{{font-size:20px;font-weight:680}}{own} .say{{font-size:16px;fill:var(--dim)}}"
        f"{own} .code{{font-family:{MONO};font-size:15px}}{own} .gone{{opacity:0}}"
        f"{own} .card{{fill:var(--panel);stroke:var(--line)}}"
        + "".join(f"{own} .t{task}{{--task:var(--{colour})}}" for task, colour in enumerate(TASKS))
        + motion.style
    )
    return drawing(name, width, height, "\n".join([*arrows, *parts]), TITLE, style)


def stream(motion: Motion) -> str:
    """Return tasks that arrive, example by example, and never come back."""
    parts = [_card(0, 0, 276, 304), _head("1  A stream, once", "tasks one after the other,", "each example seen once")]
    for task in range(3):
        begun = 0.02 + task * 0.24
        y = 106.0 + 62 * task
        row = [text(20, y + 24, f"task {task + 1}", class_="say")]
        for at in range(4):
            tile = _tile("0123456"[2 * task + at % 2], 88.0 + 44 * at, y, task, at)
            passed = begun + 0.03 * (4 - at)
            row.append(group(tile, class_=motion.moved(passed - 0.03, passed, 0, -9)))
        parts.append(group(*row, class_=f"t{task} {motion.seen(begun, faint=0.3)}"))
    return group(*parts)


def base_models(motion: Motion) -> str:
    """Return points of latent spaces, each on its way from a start of its own."""
    parts = [
        _card(0, 0, 276, 304),
        _head("2  Base models", "small networks that learn", "as points z of a latent space"),
    ]
    for start in range(STARTS):
        y = 112.0 + 54 * start
        parts.append(_network(26, y, "var(--other)"))
        parts.append(text(88, y + 27, f"start {start + 1}", class_="say"))
        parts.append(line(150, y + 22, 256, y + 22, class_="axis", stroke_width=2))
        parts.append(element("circle", cx=150.0, cy=y + 22, r=4, fill="var(--other)"))
        for task in range(3):
            begun = 0.06 + task * 0.24
            x = 178.0 + 26 * task + (7, -5, 10)[start] * (1, -1, 0.4)[task]
            dot = element("circle", cx=x, cy=y + 22 + (-6, 5, -3)[(start + task) % 3], r=7, fill="var(--task)")
            moved = motion.moved(begun, begun + 0.1, 150 - x, 6)
            parts.append(group(group(dot, class_=moved), class_=f"t{task} {motion.seen(begun)}"))
    parts.append(text(138, 288, "ψ = ψ₀ + S z", class_="code", text_anchor="middle"))
    return group(*parts)


def distribution(motion: Motion) -> str:
    """Return the priors: a row a task, a component a start; early ones coarser, and with fewer components, at the end."""
    parts = [
        _card(0, 0, 276, 304),
        _head("3  Weight distribution", "p(z | t): for every task a", "mixture, a component a start"),
    ]
    for task in range(3):
        learned = 0.17 + task * 0.24
        y = 132.0 + 60 * task
        parts.append(text(20, y + 5, f"t = {task + 1}", class_="say"))
        for start in range(STARTS):
            x = 104.0 + 64 * start
            fine, coarse = _component(x, y, start + task, 7), _component(x, y, start + task, 3)
            cut = 0.69 + 0.02 * task  # when the third task needs room
            if task == 2:
                parts.append(group(fine, class_=f"t{task} {motion.seen(learned)}"))
            else:
                parts.append(group(fine, class_=f"t{task} {motion.seen(learned, cut)}"))
                if not (task == 0 and start == STARTS - 1):
                    parts.append(group(coarse, class_=f"t{task} {motion.seen(cut)}"))
    return group(*parts)


def answer(motion: Motion) -> str:
    """Return models drawn from the priors, and the mean of what they say."""
    parts = [
        _card(0, 0, 276, 304),
        _head("4  Sampled models", "drawn from p(z | t), they", "answer together"),
    ]
    parts.append(_tile("4", 18, 128, 2, 0, known=False))
    parts.append(text(36, 184, "x", class_="say", text_anchor="middle"))
    heights = ((0.05, 0.12, 0.5), (0.1, 0.06, 0.12), (0.85, 0.82, 0.38))
    for model in range(3):
        at = 0.80 + 0.03 * model
        y = 100.0 + 62 * model
        parts.append(
            group(
                _network(72, y, f"var(--{TASKS[(model + 1) % 3]})"),
                _bars(140, y + 2, [column[model] for column in heights]),
                line(58, 146, 72, y + 22, class_="axis", stroke_width=1.6),
                class_=motion.seen(at),
            )
        )
    parts.append(
        group(
            text(228, 124, "mean", class_="say", text_anchor="middle"),
            _bars(206, 132, [sum(column) / 3 for column in heights], height=90, width=12, strong=True),
            text(228, 256, "“4”", class_="head", text_anchor="middle"),
            class_=motion.seen(0.9),
        )
    )
    return group(*parts)


def exemplars(motion: Motion) -> str:
    """Return the few examples that are kept."""
    parts = [_card(0, 0, 576, 108, "keep")]
    parts.append(text(20, 34, "Exemplars", class_="head"))
    parts.append(text(20, 62, "a few hundred examples, kept beside the distribution:", class_="say"))
    parts.append(text(20, 86, "base models rehearse them, consolidation is fitted on them", class_="say"))
    for at, digit in enumerate("012345"):
        tile = _tile(digit, 364.0 + 33 * at, 12, at // 2, at, size=28)
        parts.append(group(tile, class_=f"t{at // 2} {motion.seen(0.1 + 0.24 * (at // 2))}"))
    return group(*parts)


def memory(motion: Motion) -> str:
    """Return the bytes that all priors share: what was there becomes smaller when more arrives."""
    left, width = 20.0, 536.0
    parts = [_card(0, 0, 576, 108)]
    parts.append(text(20, 34, "Consolidation", class_="head"))
    parts.append(text(556, 34, "a fixed number of bytes", class_="say", text_anchor="end"))
    parts.append(element("rect", x=left, y=50.0, width=width, height=22.0, rx=4, class_="axis", stroke_width=1.6))
    shares = ((0.4, 0.22), (0.4, 0.33), (0.4, 0.45))
    learned = [0.17 + task * 0.24 for task in range(3)]
    x = left
    for task, (before, after) in enumerate(shares):
        wide = width * after
        grows = before / after
        if task == 2:
            steps = [(0.0, 0.0), (0.69, 0.0), (0.75, 1.0), (1.0, 1.0)]
            came = motion.moved(0.0, 0.01, 0, 0)
        else:
            steps = [
                (0.0, 0.0),
                (learned[task], 0.0),
                (learned[task] + 0.05, grows),
                (0.67, grows),
                (0.73, 1.0),
                (1.0, 1.0),
            ]
            came = motion.moved(0.67, 0.73, sum(width * (b - a) for b, a in shares[:task]), 0)
        bar = element(
            "rect", x=x + 1, y=52.0, width=wide - 2, height=18.0, rx=3, fill="var(--task)", class_=motion.grown(steps)
        )
        parts.append(group(bar, class_=f"t{task} {came}"))
        x += wide
    parts.append(text(20, 94, "full: earlier priors keep fewer values, then fewer components", class_="say"))
    return group(*parts)


def _head(title: str, *lines: str) -> str:
    said = [text(20, 60 + 21 * at, words, class_="say") for at, words in enumerate(lines)]
    return text(20, 34, title, class_="head") + "".join(said)


def _card(x: float, y: float, width: float, height: float, edge: str = "line") -> str:
    style = f"stroke:var(--{edge})" if edge != "line" else None
    return element(
        "rect", x=x + 1.0, y=y + 1.0, width=width - 2.0, height=height - 2.0, rx=12, class_="card", style=style
    )


def _tile(digit: str, x: float, y: float, task: int, at: int, size: float = 36, known: bool = True) -> str:
    """Return a digit of five by seven pixels on a tile."""
    pixel = size / 9
    dots = [
        f"M{number(x + pixel * (2 + column))} {number(y + pixel * (1 + row))}h{number(pixel)}v{number(pixel)}h-{number(pixel)}z"
        for row, bits in enumerate(DIGITS[digit].split())
        for column, bit in enumerate(bits)
        if bit == "1"
    ]
    edge = "var(--task)" if known else "var(--ink)"
    back = element(
        "rect",
        x=float(x),
        y=float(y),
        width=float(size),
        height=float(size),
        rx=5,
        fill="var(--ground)",
        stroke=edge,
        stroke_width=1.6,
    )
    return back + element("path", d="".join(dots), fill=edge)


def _network(x: float, y: float, colour: str) -> str:
    """Return a small network of three layers, 54 wide and 44 high."""
    layers = [
        [(x + 4, y + 10 + 12 * i) for i in range(3)],
        [(x + 27, y + 4 + 12 * i) for i in range(4)],
        [(x + 50, y + 16 + 12 * i) for i in range(2)],
    ]
    edges = "".join(
        f"M{number(a)} {number(b)}L{number(c)} {number(d)}"
        for one, other in pairwise(layers)
        for a, b in one
        for c, d in other
    )
    nodes = [element("circle", cx=float(a), cy=float(b), r=3.4, fill=colour) for layer in layers for a, b in layer]
    return element("path", d=edges, stroke="var(--line)", stroke_width=1.2) + "".join(nodes)


def _component(x: float, y: float, turned: int, levels: int) -> str:
    """Return a component of a prior: rings around its mean; the fewer values its numbers have, the coarser they are drawn."""
    angle = (-24, 18, 40, -8, 30)[turned % 5]
    if levels > 4:
        rings = "".join(
            element(
                "ellipse",
                rx=float(24 * share),
                ry=float(15 * share),
                fill="var(--task)",
                fill_opacity=f"{0.22 + 0.14 * at:.2f}",
            )
            for at, share in enumerate((1, 0.66, 0.36))
        )
        return group(
            rings,
            element("circle", r=3, fill="var(--ink)"),
            transform=f"translate({number(x)} {number(y)}) rotate({angle})",
        )
    cells, turn = [], math.radians(angle)
    for row in range(-2, 3):
        for column in range(-3, 4):
            u, v = 8 * column, 8 * row
            along, across = u * math.cos(turn) + v * math.sin(turn), v * math.cos(turn) - u * math.sin(turn)
            distance = math.hypot(along / 24, across / 15)
            if distance < 1.02:
                share = 0.85 if distance < 0.45 else 0.42
                cells.append(
                    element(
                        "rect",
                        x=x + u - 3.6,
                        y=y + v - 3.6,
                        width=7.2,
                        height=7.2,
                        fill="var(--task)",
                        fill_opacity=share,
                    )
                )
    return "".join(cells)


def _bars(x: float, y: float, shares: list[float], height: float = 40, width: float = 9, strong: bool = False) -> str:
    """Return probabilities as bars."""
    colour = "var(--ink)" if strong else "var(--other)"
    bars = [
        element(
            "rect",
            x=x + (width + 4) * at,
            y=y + height * (1 - share),
            width=float(width),
            height=float(max(2.0, height * share)),
            fill=colour,
        )
        for at, share in enumerate(shares)
    ]
    wide = (width + 4) * len(shares) - 4
    return "".join(bars) + line(x - 3, y + height + 1, x + wide + 3, y + height + 1, class_="axis", stroke_width=1.4)


def _arrow(x1: float, y1: float, x2: float, y2: float, colour: str = "other") -> str:
    """Return an arrow along one axis."""
    across, down = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
    shaft = line(x1, y1, x2 - 8 * across, y2 - 8 * down, stroke=f"var(--{colour})", stroke_width=2.4)
    return shaft + _tip(x2, y2, across, down, colour)


def _tip(x: float, y: float, across: int, down: int, colour: str) -> str:
    back, side = (x - 12 * across, y - 12 * down), (7 * down, 7 * across)
    ends = [(x, y), (back[0] + side[0], back[1] + side[1]), (back[0] - side[0], back[1] - side[1])]
    return element("path", d="M" + "L".join(f"{number(a)} {number(b)}" for a, b in ends) + "z", fill=f"var(--{colour})")


def _bent(x1: float, y1: float, x2: float, y2: float) -> str:
    middle = (y1 + y2) / 2 - 4
    way = f"M{number(x1)} {number(y1)}V{number(middle)}H{number(x2)}V{number(y2 - 8)}"
    return element("path", d=way, fill="none", stroke="var(--other)", stroke_width=2.4) + _tip(x2, y2, 0, 1, "other")


def _percent(share: float) -> str:
    return f"{100 * min(share, 1.0):.1f}%"
