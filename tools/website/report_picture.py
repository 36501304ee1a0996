"""Take docs/images/report.png: the report page of all result files, on a desktop in light and on a phone in dark, in Chromium.

    python -m tools.website.report_picture

The page is the one that `merlin report results` writes, opened at the stream that the README leads with.
"""

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from tools.pages.markdown import ROOT
from tools.pages.readme import FIRST
from tools.website.audit import browser_path

from merlin_cl.report.text import stream_title

PICTURE = ROOT / "docs" / "images" / "report.png"
DESKTOP, PHONE = (1240, 1130), (390, 1010)
MARGIN = 35
BEHIND = "#e4e7ec"


def shown(browser: Browser, page: Path, size: tuple[int, int], scheme: str) -> bytes:
    """Return the page as a screen of this size shows it."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-ready]")
    tab.get_by_role("tab", name=stream_title(FIRST), exact=True).click()
    tab.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    picture = tab.screenshot()
    context.close()
    return picture


def side_by_side(browser: Browser, desktop: bytes, phone: bytes) -> bytes:
    """Return both screens beside each other."""
    images = [f"data:image/png;base64,{base64.b64encode(picture).decode()}" for picture in (desktop, phone)]
    width, height = DESKTOP[0] + PHONE[0] + 2 * MARGIN, DESKTOP[1]
    tab = browser.new_page(viewport={"width": width, "height": height})
    tab.set_content(
        f"<body style='margin:0;display:flex;align-items:center;background:{BEHIND}'>"
        f"<img src='{images[0]}' style='display:block'><img src='{images[1]}' style='margin:0 {MARGIN}px;border-radius:18px'>"
    )
    return tab.screenshot()


def main() -> None:
    """Write the page, look at it, keep the picture."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [sys.executable, "-m", "merlin_cl.cli", "report", str(ROOT / "results"), "--out", str(page)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path())
            screens = [shown(browser, page, DESKTOP, "light"), shown(browser, page, PHONE, "dark")]
            PICTURE.write_bytes(side_by_side(browser, *screens))
            browser.close()
    print(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
