"""The last touch on a page's HTML: drawings in the page, tables in boxes that scroll."""

import re
from html import escape, unescape
from pathlib import Path

IMAGE = re.compile(r'<img\b[^>]*?src="(?P<source>[^"]+\.svg)"[^>]*?>')
TABLE = re.compile(r"<table>(?P<inside>.*?)</table>", re.DOTALL)
CELL = re.compile(r"<td(?P<rest>[^>]*)>(?P<text>.*?)</td>", re.DOTALL)
ROW = re.compile(r"<tr>\s*(?P<cells>(?:<td[^>]*>.*?</td>\s*)+)</tr>", re.DOTALL)
LONG = 60
"""Letters from which a cell is text, which may be wrapped."""
LEGIBLE = 480
"""Widths of drawings from which they scroll on a phone rather than shrink."""


def finished(html: str, folder: Path) -> str:
    """Return a page's HTML with its drawings and tables as the site shows them."""
    html = re.sub(r"<p>\s*(<img\b[^>]*>)\s*</p>", r"\1", html)
    html = IMAGE.sub(lambda image: _drawn(image, folder), html)
    html = TABLE.sub(lambda table: boxed(table["inside"]), html)
    return re.sub(r"(?<=<pre)(?=>)", ' tabindex="0"', html)


def _drawn(image: re.Match[str], folder: Path) -> str:
    """Return one of our drawings in the place of a reference to it; others stay."""
    path = folder / image["source"]
    text = path.read_text("utf-8") if path.is_file() else ""
    if 'class="fig ' not in text:
        return image[0]
    size = re.search(r'width="([\d.]+)"', text)
    wide = float(size[1]) if size else 0.0
    label = re.search(r'alt="([^"]*)"', image[0])
    drawing = re.sub(r'aria-label="[^"]*"', f'aria-label="{label[1]}"', text, count=1) if label and label[1] else text
    drawing = re.sub(r"<title>.*?</title>\n", "", drawing, count=1)
    scrolls, reach = (" scrolls", ' tabindex="0"') if wide > LEGIBLE else ("", "")
    return f'<figure class="drawn{scrolls}" style="--wide:{wide:g}px"{reach}>{drawing.strip()}</figure>'


def boxed(inside: str) -> str:
    """Return a table in a box that scrolls, its long cells and our own rows marked."""

    def cell(match: re.Match[str]) -> str:
        words = unescape(re.sub(r"<[^>]+>", "", match["text"]))
        return match[0] if len(words) < LONG else f'<td class="wide"{match["rest"]}>{match["text"]}</td>'

    def row(match: re.Match[str]) -> str:
        first = re.search(r"<code>(.*?)</code>", match["cells"])
        ours = first is not None and first[1] == "merlin"
        return f'<tr class="ours">{match["cells"]}</tr>' if ours else match[0]

    columns = inside.partition("</tr>")[0].count("<th")
    titles = re.findall(r"<th[^>]*>(.*?)</th>", inside.partition("</tr>")[0], re.DOTALL)
    named = ", ".join(title for raw in titles if (title := re.sub(r"<[^>]+>", "", raw).strip()))
    inside = CELL.sub(cell, ROW.sub(row, inside))
    inside = inside.replace("<th></th>", "<td></td>")
    many = ' class="many"' if columns > 5 else ""
    label = f"Table: {escape(unescape(named))}"
    return f'<div class="box" tabindex="0" role="region" aria-label="{label}"><table{many}>{inside}</table></div>'
