"""Drawings as SVG text: the same file for the same numbers, in the reader's light or dark colours.

A drawing is an `<svg class="fig">` with a stylesheet of its own, so that it looks right in an `<img>` on any page. On our site it
stands in the page itself, whose stylesheet sets the same variables to the colours of the page (`tools/website/theme`).
"""

from collections.abc import Mapping
from html import escape

FONT = "ui-sans-serif, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace"
LIGHT = {
    "ink": "#1b2130",
    "dim": "#566175",
    "line": "#d4dae4",
    "ground": "#ffffff",
    "panel": "#f5f6fa",
    "merlin": "#5b3cc4",
    "soft": "#d9d0f7",
    "stream": "#0b7285",
    "keep": "#a8500a",
    "leaf": "#2f7d3b",
    "other": "#7b8798",
    "bad": "#b4232c",
}
DARK = {
    "ink": "#e9edf5",
    "dim": "#a9b4c6",
    "line": "#3a4454",
    "ground": "#12151d",
    "panel": "#1b202b",
    "merlin": "#b7a4ff",
    "soft": "#43357d",
    "stream": "#5fd0e3",
    "keep": "#f0a35e",
    "leaf": "#86d392",
    "other": "#8f9bad",
    "bad": "#ff8d92",
}
"""What each name is for: ink and dim write, line rules, ground and panel lie behind; merlin is ours, keep is exemplars."""


def variables(colours: Mapping[str, str]) -> str:
    """Return colours as CSS variables."""
    return "".join(f"--{name}:{value};" for name, value in colours.items())


def drawing(
    name: str, width: float, height: float, body: str, title: str, style: str = "", ground: bool = False
) -> str:
    """Return a whole SVG file; `style` is CSS whose selectors begin with `.NAME`."""
    sheet = (
        f".fig{{{variables(LIGHT)}font-family:{FONT}}}"
        f"@media (prefers-color-scheme:dark){{.fig{{{variables(DARK)}}}}}"
        ".fig text{fill:var(--ink)}.fig .dim{fill:var(--dim)}.fig .axis{stroke:var(--line);fill:none}" + style
    )
    back = f'<rect width="{number(width)}" height="{number(height)}" fill="var(--ground)"/>\n' if ground else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="fig {name}" viewBox="0 0 {number(width)} {number(height)}" '
        f'width="{number(width)}" height="{number(height)}" role="img" aria-label="{escape(title)}">\n'
        f"<title>{escape(title)}</title>\n<style>{sheet}</style>\n{back}{body}\n</svg>\n"
    )


def number(value: float) -> str:
    """Return a coordinate to a tenth.

    >>> number(3.0), number(2.25), number(-0.01)
    ('3', '2.2', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def attributes(values: Mapping[str, object]) -> str:
    """Return attributes; underscores stand for hyphens, and a trailing one for nothing."""
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{number(value) if isinstance(value, float) else escape(str(value))}"'
        for name, value in values.items()
        if value is not None
    )


def element(tag: str, content: str = "", **values: object) -> str:
    """Return an element.

    >>> element("circle", cx=1.5, cy=2, class_="dot")
    '<circle cx="1.5" cy="2" class="dot"/>'
    """
    opened = f"<{tag}{attributes(values)}"
    return f"{opened}>{content}</{tag}>" if content else f"{opened}/>"


def text(x: float, y: float, words: str, **values: object) -> str:
    """Return words at a place."""
    return element("text", escape(words), x=float(x), y=float(y), **values)


def line(x1: float, y1: float, x2: float, y2: float, **values: object) -> str:
    """Return a straight line."""
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), **values)


def group(*parts: str, **values: object) -> str:
    """Return parts together."""
    return element("g", "\n".join(part for part in parts if part) or " ", **values)
