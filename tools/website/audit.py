"""Look at every page of the site in a browser, wide and narrow, light and dark, and count what is wrong.

    make docs && python -m tools.website.audit site                   # writes results/site/audit.json
    python -m tools.website.audit site --pages index.html method.html   # some pages; writes nothing

Asked of every page: that it does not overflow, that every text has a contrast of at least 4.5 against what is behind it, that no
label of a figure lies outside it or over another, that controls have names, pictures alternative texts and headings an order,
that no id is there twice, that the console says nothing, and that nothing is asked of another host. The exit code is 1 where
something is wrong.
"""

import argparse
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Request, sync_playwright
from tools.pages.markdown import ROOT

RECORD = ROOT / "results" / "site" / "audit.json"
SCRIPT = (Path(__file__).parent / "audit.js").read_text("utf-8")
WIDTHS = (1440, 1024, 390)
SCHEMES = ("light", "dark")


class Finding(NamedTuple):
    """Something wrong on a page."""

    page: str
    width: int
    scheme: str
    kind: str
    what: str


def browser_path() -> str | None:
    """Return the browser of this machine; None for the one that playwright brings."""
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


def _failed(request: Request) -> list[tuple[str, str]]:
    """Return what could not be loaded; what was given up because the next page was opened is no failure."""
    return [] if request.failure == "net::ERR_ABORTED" else [("not loaded", request.url)]


def audit(browser: Browser, site: Path, pages: Sequence[str], width: int, scheme: str) -> Iterator[Finding]:
    """Yield what is wrong with pages at one width in one scheme."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    said: list[tuple[str, str]] = []
    page.on("console", lambda message: said.append(("console", message.text)))
    page.on("pageerror", lambda error: said.append(("console", str(error))))
    page.on("requestfailed", lambda request: said.extend(_failed(request)))
    page.on(
        "request", lambda one: None if one.url.startswith(("file:", "data:")) else said.append(("other host", one.url))
    )
    for name in pages:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((site / name).resolve().as_uri())
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size(
            {"width": width, "height": min(height, 16_000)}
        )  # what is behind a text is asked in the window
        for kind, what in [*page.evaluate(SCRIPT), *said]:
            yield Finding(name, width, scheme, kind, what)
        said.clear()
    context.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit a site; 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pages", nargs="+")
    options = parser.parse_args(arguments)
    pages = options.pages or sorted(path.relative_to(options.site).as_posix() for path in options.site.rglob("*.html"))
    findings: list[Finding] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path())
        for width in WIDTHS:
            for scheme in SCHEMES:
                findings += audit(browser, options.site, pages, width, scheme)
        browser.close()
    for finding in findings[:60]:
        print(*finding, sep="  ")
    print(f"{len(pages)} pages, {len(findings)} findings", dict(Counter(finding.kind for finding in findings)))
    if not options.pages:
        record = {
            "command": "python -m tools.website.audit site",
            "pages": len(pages),
            "widths": WIDTHS,
            "schemes": SCHEMES,
            "findings": len(findings),
            "kinds": dict(Counter(finding.kind for finding in findings)),
            "first": [finding._asdict() for finding in findings[:20]],
        }
        RECORD.parent.mkdir(parents=True, exist_ok=True)
        RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
