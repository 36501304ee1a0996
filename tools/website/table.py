"""The one table of all results: plain HTML that `site.js` lets readers filter and sort."""

from collections.abc import Iterable
from html import escape
from typing import Any

HEADINGS = (
    ("method", "up"),
    ("stream", "up"),
    ("view", "up"),
    ("rank", "up"),
    ("A", "down"),
    ("final", "down"),
    ("F", "up"),
    ("kept", "up"),
    ("CPU s", "up"),
    ("seeds", "down"),
)
"""Columns, and which way they are sorted first."""


def every_row(rows: list[dict[str, Any]]) -> str:
    """Return the table with its filters."""
    streams = dict.fromkeys((row["stream"], row["title"]) for row in rows)
    views = dict.fromkeys((row["view"], row["view"]) for row in rows)
    methods = sorted({(row["method"], row["method"]) for row in rows})
    filters = "".join(
        f'<label>{name}<select name="{name.lower()}"><option value="">all</option>{_options(values)}</select></label>'
        for name, values in (("Stream", streams), ("View", views), ("Method", methods))
    )
    filters += '<label>Words<input name="words" type="search" placeholder="herding, marginal"></label>'
    heads = "".join(
        f'<th scope="col" data-first="{first}"><button type="button">{name}</button></th>' for name, first in HEADINGS
    )
    body = "\n".join(map(_row, rows))
    return (
        '<div class="every-row"><h2 id="every-row">Every row</h2>'
        f'<div class="filters" role="group" aria-label="Filters">{filters}<output aria-live="polite"></output></div>'
        '<div class="box" tabindex="0" role="region" aria-label="Every row of every stream">'
        f"<table class='many'><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _options(values: Iterable[tuple[str, str]]) -> str:
    return "".join(f'<option value="{escape(value)}">{escape(title)}</option>' for value, title in values)


def _row(row: dict[str, Any]) -> str:
    settings = [f"{name} {value}" for name, value in row["changed"].items()]
    more = [row["preset"]] if row["preset"] != "default" else []
    more += [row["inference"]] if row["inference"] else []
    small = f"<small>{escape(', '.join([*more, *settings]))}</small>" if more or settings else ""
    part = "<small>part of it</small>" if row["part"] else ""
    deviation = "" if row["std"] is None else f" ± {row['std']:.2f}"
    cells = [
        ("method", "", f"<code>{escape(row['method'])}</code>{small}", row["method"]),
        ("", "stream", f'<a href="{row["stream"]}.html">{escape(row["title"])}</a>{part}', row["title"]),
        ("", "view", row["view"], row["view"]),
        ("n", "rank", str(row["rank"] or row["apart"]), row["rank"] or ""),
        ("n", "A", f"{row['A']:.2f}{deviation}", row["A"]),
        ("n", "final", f"{row['final']:.2f}", row["final"]),
        ("n", "F", "–" if row["forgetting"] is None else f"{row['forgetting']:.2f}", _value(row["forgetting"])),
        ("n", "kept", row["kept"], _value(row["bytes"])),
        ("n", "CPU s", f"{row['cpu']:.1f}", row["cpu"]),
        ("n", "seeds", str(row["seeds"]), row["seeds"]),
    ]
    ours = ' class="ours"' if row["method"] == "merlin" else ""
    marks = f'data-stream="{row["stream"]}" data-view="{row["view"]}" data-method="{escape(row["method"])}"'
    inner = "".join(
        f'<td class="{kind}" data-label="{label}" data-value="{escape(str(value))}">{text}</td>'
        for kind, label, text, value in cells
    )
    return f"<tr{ours} {marks}>{inner}</tr>"


def _value(value: float | None) -> object:
    return "" if value is None else value
