"""The site builds without a warning, every page has its place, and nothing is asked of another host."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from tests.docs.pages import ROOT

pytest.importorskip("mkdocs")
GROUPS = ["Start", "Guides", "Methods", "Results", "Reference"]
KINDS = ("index", "results/index", "results/split-mnist", "methods/merlin", "api/estimator", "tutorial")
"""A page of each kind."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Links(HTMLParser):
    """All that a page refers to, and all that can be referred to in it."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.targets += [values[name] for name in ("href", "src") if values.get(name)]
        self.ids.add(values.get("id"))


@pytest.fixture(scope="module")
def links(site):
    return {page: Links(page.read_text("utf-8")) for page in site.rglob("*.html")}


def test_every_page_is_there(site):
    pages = [path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    missing = [page for page in pages if not (site / str(page).replace("README", "index")).is_file()]
    assert missing == []


def test_every_link_leads_somewhere(site, links):
    broken = []
    for page, known in links.items():
        for target in known.targets:
            parts = urlsplit(target)
            if parts.scheme:
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            there = path.is_file() and path.is_relative_to(site)
            anchored = not parts.fragment or path not in links or unquote(parts.fragment) in links[path].ids
            broken += [] if there and anchored else [f"{page.relative_to(site)}: {target}"]
    assert broken == []


def test_every_page_stands_in_one_of_five_groups_and_once(site):
    text = (site / "tutorial.html").read_text("utf-8")
    pages = text.partition('<nav id="pages"')[2].partition("</nav>")[0]
    assert re.findall(r"<details class=\"group[^>]*><summary>(.*?)</summary>", pages) == GROUPS
    listed = re.findall(r'<li><a href="([^"]+)"', pages)
    assert len(listed) == len(set(listed))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {name.replace("README", "index").replace(".md", ".html") for name in written} <= set(listed)


def test_the_first_page_has_the_picture_three_cards_and_a_figure(site):
    page = (site / "index.html").read_text("utf-8")
    assert page.count('<svg xmlns="http://www.w3.org/2000/svg" class="fig method') == 2  # wide, and for a phone
    assert "prefers-reduced-motion" in page
    assert page.partition('class="cards"')[2].count("<h2") == 3 + 1
    assert 'class="fig results"' in page


def test_the_table_of_every_row_can_be_read_without_a_script(site):
    page = (site / "results" / "index.html").read_text("utf-8")
    assert page.count("<tr data-stream=") + page.count('<tr class="ours" data-stream=') > 100


def test_the_reference_has_docstrings(site):
    assert "goes on learning" in (site / "api" / "estimator.html").read_text("utf-8")


def test_no_page_asks_another_host_for_anything(site):
    fetched = [
        page.name
        for page in site.rglob("*.html")
        if 'src="http' in (text := page.read_text("utf-8")) or 'rel="stylesheet" href="http' in text
    ]
    assert fetched == []


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    from tools.website.audit import browser_path

    if browser_path() is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=browser_path())
        yield opened
        opened.close()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_nothing_is_wrong_with_a_page_of_each_kind(site, browser, width, scheme):
    from tools.website.audit import audit

    assert list(audit(browser, site, [f"{kind}.html" for kind in KINDS], width, scheme)) == []


def test_the_audit_finds_what_is_wrong(tmp_path, browser):
    from tools.website.audit import audit

    (tmp_path / "page.html").write_text(
        """<title>t</title><body style="background:#fff"><h1>a</h1><h3>b</h3><p style="color:#999">faint</p><img src="none.png">
        <button></button><div style="width:2000px">wide</div><i id="a"></i><i id="a"></i>
        <svg class="fig" aria-label="d" width="90" height="20"><text x="80" y="9">outside</text></svg>""",
        "utf-8",
    )
    kinds = {finding.kind for finding in audit(browser, tmp_path, ["page.html"], 390, "light")}
    assert kinds >= {
        "contrast",
        "overflow",
        "no name",
        "no alternative text",
        "headings",
        "label outside",
        "an id twice",
    }
    assert kinds >= {"image not there", "no language", "not loaded"}


def test_search_works_from_a_disk_and_the_table_can_be_filtered(site, browser):
    page = browser.new_page()
    page.goto((site / "results" / "index.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("consolidation")
    page.wait_for_selector("#found a")
    assert "method" in page.locator("#found").inner_html()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert not page.url.endswith("results/index.html")
    page.goto((site / "results" / "index.html").as_uri())
    everything = page.locator(".every-row tbody tr:visible").count()
    page.select_option('[name="method"]', "merlin")
    assert 0 < page.locator(".every-row tbody tr:visible").count() < everything
    assert "method=merlin" in page.url
    page.locator("th button", has_text="seeds").click()
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("seeds")
    page.close()


def test_light_and_dark_are_a_readers_choice(site, browser):
    page = browser.new_page(color_scheme="dark")
    page.goto((site / "index.html").as_uri())

    def ground():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    dark = ground()
    page.click(".theme")
    assert ground() != dark
    assert page.evaluate("getComputedStyle(document.querySelector('.fig')).getPropertyValue('--ink')") == page.evaluate(
        "getComputedStyle(document.documentElement).getPropertyValue('--ink')"
    )
    page.close()
