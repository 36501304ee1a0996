"""For mkdocs: what is brought in from outside docs/, where pages stand, and how their HTML is finished.

Run as `python -m mkdocs` from the repository's root, where `tools` can be imported.
"""

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from tools.pages.logo import mark
from tools.pages.records import read_records
from tools.pages.results import rows_to_filter
from tools.pages.svg import DARK, FONT, LIGHT, MONO, variables
from tools.website.finish import finished
from tools.website.table import every_row

ROOT = Path(__file__).resolve().parents[2]
HOME = {"README.md": "index.md"}
"""What a link to a file outside docs/ leads to, where that is another page."""
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)([^)#\s]+)")
FENCE = re.compile(r"^(```+\w+) notest$", re.MULTILINE)
"""What only our tests read in a block's first line."""
GROUPS = {"methods": "Methods", "results": "Results", "api": "Reference"}
"""The group of pages that mkdocs.yml does not name, by their folder; of others it is Guides."""


def brought_in() -> dict[str, str]:
    """Return what lies outside docs/ and belongs on the site: paths below the root, and where they are on the site."""
    named = (
        "RESULTS.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "LICENSE",
        "constraints.txt",
        "CITATION.cff",
    )
    examples = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in (".py", ".toml"))
    paths = [*(ROOT / name for name in named), *examples]
    return {name: name for path in paths if path.is_file() for name in [path.relative_to(ROOT).as_posix()]}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put every page that mkdocs.yml does not name into the group of its folder, or where that folder is named."""
    named = set(_pages_of(config.nav or []))
    groups = {title: pages for entry in config.nav or [] for title, pages in entry.items()}
    for path in sorted(Path(config.docs_dir).rglob("*.md")):
        name = path.relative_to(config.docs_dir).as_posix()
        folder = f"{name.rpartition('/')[0]}/"
        if name not in named and folder not in named:
            groups[GROUPS.get(folder.partition("/")[0], "Guides")].append(name)
    for entry in (entry for pages in groups.values() for entry in pages if isinstance(entry, dict)):
        entry.update({title: _folder(config, value, named) for title, value in entry.items()})
    return config


def _pages_of(nav: Any) -> list[str]:
    """Return all paths of a navigation."""
    if isinstance(nav, str):
        return [nav]
    return [path for part in (nav.values() if isinstance(nav, dict) else nav) for path in _pages_of(part)]


def _folder(config: MkDocsConfig, value: Any, named: set[str]) -> Any:
    """Return the pages of a folder, where one is named, but those that mkdocs.yml names itself."""
    if not (isinstance(value, str) and value.endswith("/")):
        return value
    names = [f"{value}{path.name}" for path in sorted((Path(config.docs_dir) / value).glob("*.md"))]
    return [name for name in names if name not in named]


def on_env(env: Any, config: MkDocsConfig, files: Files) -> Any:
    """Let templates draw the mark."""
    size = 'viewBox="0 0 96 96" class="fig logo" aria-hidden="true"'
    env.globals["mark"] = f"<svg {size}>{mark()}</svg>"
    return env


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is brought in, and the colours."""
    for name, place in brought_in().items():
        files.append(File.generated(config, place, content=(ROOT / name).read_text("utf-8")))
    files.append(File.generated(config, "assets/colours.css", content=colours()))
    return files


def colours() -> str:
    """Return the colours of the drawings as those of the site, light and dark."""
    fonts = f"--sans:{FONT};--mono:{MONO};"
    light, dark = (
        f"{variables(LIGHT)}--edge:#8a94a6;color-scheme:light;",
        f"{variables(DARK)}--edge:#66728a;color-scheme:dark;",
    )
    inherited = "".join(f"--{name}:inherit;" for name in LIGHT)
    return (
        f":root{{{fonts}{light}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=dark]{{{dark}}}\nhtml body .fig{{{inherited}}}\n"
    )


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let every relative link lead to where its target is on the site."""
    places = brought_in() | HOME
    outside = {place: name for name, place in brought_in().items()}
    here = outside.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def led(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here), link[1]))
        if (ROOT / target).is_dir():
            target += "/README.md"
        place = places.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(place, posixpath.dirname(page.file.src_uri) or ".")

    return LINK.sub(led, FENCE.sub(r"\1", markdown))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put drawings into the page, tables into boxes, and every row of results where it is asked for."""
    folder = (ROOT / "docs" / page.file.src_uri).parent
    if '<div class="every-row"></div>' in html:
        html = html.replace('<div class="every-row"></div>', every_row(rows_to_filter(read_records())))
    return finished(html, folder)


@event_priority(-100)
def on_post_build(config: MkDocsConfig) -> None:
    """Write the search index as a script, which a page from a disk may load."""
    index = Path(config.site_dir) / "search" / "search_index.json"
    sections = json.loads(index.read_text("utf-8"))["docs"]
    titles = {one["location"]: one["title"] for one in sections if "#" not in one["location"]}
    listed = [
        {
            "at": one["location"],
            "title": one["title"],
            "page": titles.get(one["location"].partition("#")[0], one["title"]),
            "text": re.sub(r"\s+", " ", one["text"])[:2000],
        }
        for one in sections
        if one["location"].partition("#")[0].endswith(".html") or not one["location"]
    ]
    text = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    (Path(config.site_dir) / "assets" / "search.js").write_text(f"window.merlinSections={text};\n", "utf-8")
    index.unlink()
    index.parent.rmdir()
