"""How the page looks, measured in a browser: nothing over anything else, nothing cut, nothing faint, at every width and theme."""

import re
from pathlib import Path

import pytest

from merlin_cl.learners.registry import method_names
from merlin_cl.report.page.build import content
from merlin_cl.report.page.render import page as rendered
from merlin_cl.report.page.sources import find, read

from .browsing import opened
from .made import make_run

LOOKING = Path(__file__).with_name("looking.js").read_text("utf-8")
ROWS_AT_FIRST = 50


def findings(page, look):
    """What one of the functions of looking.js finds."""
    return page.evaluate(f"() => {{ {LOOKING}\nreturn {look}; }}")


def written(folder):
    file = folder / "report.html"
    file.write_text(rendered(content(read(find([folder / "runs"])).runs)), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """Twenty methods whose accuracies lie close together, on two streams, with long names and a ceiling among them."""
    folder = tmp_path_factory.mktemp("crowded")
    methods = [name for name in method_names() if not name.startswith(("merlin-", "lookup", "joint"))][:20]
    for stream in ("split-mnist", "permuted-mnist"):
        for place, method in enumerate(methods):
            make_run(folder / "runs", method, stream=stream, stream_values={"tasks": 4}, level=95.0 - 0.15 * place)
        make_run(folder / "runs", "joint", stream=stream, stream_values={"tasks": 4}, level=96.0)
        make_run(
            folder / "runs", "scr", stream=stream, stream_values={"tasks": 4}, level=50.0, exemplar_choice="random"
        )
    return written(folder)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """One method with sixty settings."""
    folder = tmp_path_factory.mktemp("sweep")
    for number in range(60):
        make_run(folder / "runs", "er", stream_values={"tasks": 3}, level=60.0 + number / 2, learning_rate=0.1 * number)
    return written(folder)


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_no_label_leaves_its_card_or_covers_another(browser, crowded, width):
    with opened(browser, crowded, width=width) as page:
        assert findings(page, "labels('#all')") == []
        page.get_by_role("tab", name="Split MNIST").click()
        assert findings(page, "labels('#stream-0')") == []
        assert findings(page, "struck('#stream-0')") == []
        page.locator("#stream-0 [data-chosen] summary").click()
        page.locator("#stream-0").get_by_role("button", name="all", exact=True).click()
        assert findings(page, "labels('#stream-0')") == []
        assert page.complaints == []


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_no_text_is_cut_or_broken_within_a_word(browser, crowded, width):
    with opened(browser, crowded, width=width) as page:
        assert findings(page, "cut()") == []
        page.get_by_role("tab", name="Split MNIST").click()
        assert findings(page, "cut()") == []
        page.locator("#stream-0").get_by_role("button", name="More columns").click()
        assert findings(page, "cut()") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(browser, crowded, scheme):
    with opened(browser, crowded, scheme=scheme) as page:
        assert findings(page, "faint()") == []
        page.get_by_role("tab", name="Split MNIST").click()
        assert findings(page, "faint()") == []


def test_a_finding_is_found(browser, crowded):
    with opened(browser, crowded) as page:
        page.get_by_role("tab", name="Split MNIST").click()
        page.evaluate(
            """() => {
                const [first, second] = document.querySelectorAll('#stream-0 [data-plot=ranking] .row-name');
                second.setAttribute('y', first.getAttribute('y'));
                first.style.fill = 'silver';
                const meta = document.querySelector('#stream-0 .meta');
                meta.style.cssText = 'color: silver; width: 3ch; overflow-wrap: anywhere';
            }"""
        )
        assert any("covers" in finding for finding in findings(page, "labels('#stream-0')"))
        assert any("broken" in finding for finding in findings(page, "cut()"))
        faint = findings(page, "faint()")
        assert any(finding.startswith("P meta") for finding in faint)
        assert any(finding.startswith("text row-name") for finding in faint)


def test_a_phone_has_a_card_a_method(browser, crowded):
    with opened(
        browser, f"{crowded}#stream=Split+MNIST+(the+first+4+tasks)", width=390, height=800, is_mobile=True
    ) as page:
        row = page.locator("#stream-0 tbody[data-view=class-incremental] tr:not(.view)").first
        assert row.evaluate("row => getComputedStyle(row).display") == "grid"
        assert row.locator("td:visible").count() == 6
        label = "cell => getComputedStyle(cell, '::before').content"
        assert row.locator("td:nth-child(6)").evaluate(label) == '"stored"'


def test_lines_in_colour_fill_the_figure_and_the_others_are_counted(browser, crowded):
    with opened(browser, f"{crowded}#stream=Split+MNIST+(the+first+4+tasks)") as page:
        figure = page.locator("#stream-0 [data-plot=curves]")
        note = figure.locator("[data-note]")
        assert note.inner_text().startswith("Out of view: 1 of 23 lines, below 90 %")
        figure.get_by_text("all lines in view", exact=True).click()
        assert note.is_hidden()


def test_many_runs_are_a_page_of_the_first_and_the_others_one_click_away(browser, sweep):
    with opened(browser, sweep) as page:
        rows = page.locator("#stream-0 tbody[data-view=class-incremental] tr:not(.view):visible")
        assert rows.count() == ROWS_AT_FIRST
        accuracy = page.locator("#stream-0 th button", has_text=re.compile("^A$")).first
        accuracy.click()
        accuracy.click()
        assert rows.count() == ROWS_AT_FIRST
        assert rows.first.locator("td").first.inner_text() == "60"  # the last by accuracy
        page.locator("#stream-0").get_by_role("button", name="All rows").click()
        assert rows.count() == 60
        assert page.locator("#stream-0 [data-plot=ranking] .row-name").count() == 30
        page.locator("#stream-0").get_by_role("button", name="All 60").click()
        assert page.locator("#stream-0 [data-plot=ranking] .row-name").count() == 60
        assert page.complaints == []
