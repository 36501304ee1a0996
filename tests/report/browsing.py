"""A headless Chromium for tests, and a page in it that notes all that should not happen."""

import shutil
import tempfile
from contextlib import contextmanager

import pytest

from patience import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",  # tests may run as root, and the pages are our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium():
    """The browser that is installed here, driven by Playwright."""
    place = next(filter(None, map(shutil.which, NAMES)), None)
    if place is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="no playwright: `pip install 'merlin-cl[dev]'` adds it"
    )
    with sync_api.sync_playwright() as playwright, tempfile.TemporaryDirectory() as home:
        browser = playwright.chromium.launch(
            executable_path=place, args=FLAGS, env={"HOME": home, "PATH": "/usr/bin:/bin"}
        )
        yield browser
        browser.close()


@contextmanager
def opened(browser, address, *, width=1280, height=900, scheme="light", **options):
    """The page at an address. What it complained of and asked for is in `page.complaints` and `page.requests`.

    To open a tab takes twice as long as the page itself: without further options the last one is emptied and used again.
    """
    spare = [] if options else browser.__dict__.setdefault("spare", [])
    page = spare.pop() if spare else _tab(browser, **options)
    page.complaints, page.requests = [], []
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    try:
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        yield page
        if not options:
            page.evaluate("localStorage.clear(), sessionStorage.clear()")
            page.context.clear_permissions()
            page.mouse.move(0, 0)
            page.goto("about:blank")
            spare.append(page)
    finally:
        if page not in spare:
            page.context.close()


def _tab(browser, **options):
    context = browser.new_context(**options)
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.on("console", lambda message: page.complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.requests.append(request.url))
    return page
