"""For mkdocs: README.md is the site's front page, RESULTS.md and the examples are on it, and links to them lead there."""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
RENAMED = {"README.md": "index.md"}
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)([^)#\s]+)")


def brought_in() -> dict[str, str]:
    """What lies outside docs/ and belongs on the site: paths below the root, and where they are on the site."""
    paths = [
        ROOT / "README.md",
        ROOT / "RESULTS.md",
        ROOT / "LICENSE",
        ROOT / "SECURITY.md",
        ROOT / "constraints.txt",
        *sorted((ROOT / "examples").glob("*.py")),
    ]
    names = [path.relative_to(ROOT).as_posix() for path in paths if path.is_file()]
    return {name: RENAMED.get(name, name) for name in names}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name every page of a folder where the folder is named, and put pages that nobody named at the end."""
    folder = Path(config.docs_dir)
    named = str(config.nav)
    for entry in config.nav or []:
        for title, place in entry.items():
            if isinstance(place, str) and place.endswith("/"):
                entry[title] = [f"{place}README.md", *(f"{place}{name}" for name in _pages(folder / place))]
    config.nav = [*(config.nav or []), *(name for name in _pages(folder) if f"'{name}'" not in named)]
    return config


def _pages(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.md") if path.name != "README.md")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add them."""
    for name, place in brought_in().items():
        files.append(File.generated(config, place, content=(ROOT / name).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let every relative link lead to where its target is on the site."""
    places = brought_in()
    here = next((name for name, place in places.items() if place == page.file.src_uri), f"docs/{page.file.src_uri}")

    def led(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here), link[1]))
        if (ROOT / target).is_dir():
            target += "/README.md"
        place = places.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(place, posixpath.dirname(page.file.src_uri) or ".")

    return LINK.sub(led, markdown)
