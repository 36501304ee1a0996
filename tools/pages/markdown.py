"""Pages as text: tables, templates, and figures between the marks of a page."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = Path(__file__).parent / "templates"
NOTHING = "*Not computed yet.*"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; columns whose heading ends in a colon are set to the right.

    >>> print(table(("name", "A:"), [("x", 1)]))
    | name | A |
    |---|---:|
    | x | 1 |
    """
    right = [heading.endswith(":") for heading in headings]
    titles = [heading.removesuffix(":") for heading in headings]
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in (titles, *rows)]
    return "\n".join([lines[0], "|" + "".join("---:|" if last else "---|" for last in right), *lines[1:]])


def template(name: str, **values: str) -> str:
    """Return the text of templates/NAME with {{ name }} replaced by values."""
    text = (TEMPLATES / name).read_text("utf-8")
    for key, value in values.items():
        mark = f"{{{{ {key} }}}}"
        if mark not in text:
            raise KeyError(f"templates/{name} has no {mark}; put it where the text belongs.")
        text = text.replace(mark, value)
    if left := re.findall(r"\{\{ \w+ \}\}", text):
        raise KeyError(f"templates/{name} asks for {', '.join(left)}, and nothing was given for it.")
    return text


def filled(page: str, parts: Mapping[str, str], root: Path = ROOT) -> str:
    """Return the text of a page with each part written anew between its marks, as `between` has it."""
    return between((root / page).read_text("utf-8"), parts, page)


def between(text: str, parts: Mapping[str, str], page: str = "The page") -> str:
    """Return a text with each part between `<!-- name: written by tools/pages -->` and `<!-- end of name -->`."""
    for name, part in parts.items():
        begin, end = f"<!-- {name}: written by tools/pages -->", f"<!-- end of {name} -->"
        before, mark, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not (mark and closed):
            raise ValueError(f"{page} has no marks for {name}; put {begin} and {end} where it belongs.")
        text = f"{before}{begin}\n\n{part.strip()}\n\n{end}{after}"
    return text


def read(path: str, root: Path = ROOT) -> str:
    """Return the text of a file of the repository; nothing where there is none."""
    return (root / path).read_text("utf-8") if (root / path).exists() else ""
