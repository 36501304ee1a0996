"""docs/images/logo.svg and mark.svg: an M that is a mixture of two components, with models drawn from it."""

import math

from tools.pages.svg import drawing, element, number, text

CENTRES, WIDTH = (0.32, 0.68), 0.105
SAMPLES = (0.2, 0.29, 0.34, 0.42, 0.6, 0.67, 0.71, 0.8)


def pages() -> dict[str, str]:
    """Return the mark alone, and with the name."""
    name = text(112, 66, "merlin-cl", class_="name")
    style = ".fig.logo .name{font-size:52px;font-weight:720;letter-spacing:-1.5px}"
    return {
        "docs/images/mark.svg": drawing("logo", 96, 96, mark(), "merlin-cl"),
        "docs/images/logo.svg": drawing("logo", 372, 96, mark() + name, "merlin-cl", style),
    }


def mark() -> str:
    """Return the mark, 96 wide and high."""
    parts = [element("rect", x=0, y=0, width=96, height=96, rx=22, fill="var(--merlin)")]
    for centre in CENTRES:
        parts.append(element("path", d=f"{_curve([centre])}Z", fill="var(--ground)", fill_opacity=0.24))
    curve = _curve(CENTRES)
    parts.append(
        element(
            "path",
            d=curve,
            fill="none",
            stroke="var(--ground)",
            stroke_width=7,
            stroke_linejoin="round",
            stroke_linecap="round",
        )
    )
    parts += [element("circle", cx=12 + 72.0 * at, cy=80.0, r=3, fill="var(--ground)") for at in SAMPLES]
    return "".join(parts)


def _curve(centres: tuple[float, ...] | list[float]) -> str:
    points = []
    for step in range(41):
        x = step / 40
        density = sum(math.exp(-(((x - centre) / WIDTH) ** 2) / 2) for centre in centres)
        points.append(f"{number(12 + 72 * x)} {number(69 - 47 * density)}")
    return "M" + "L".join(points)
