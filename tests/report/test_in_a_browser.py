"""The page in a real browser: quiet, offline, drawn, and usable by pointer, keyboard and screen reader, on any screen."""

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from merlin_cl.report.page.build import content
from merlin_cl.report.page.render import page as rendered
from merlin_cl.report.page.sources import find, read

from .browsing import opened
from .made import make_run

PLOTS = {
    *("ranking", "stored", "seconds", "curves", "reliability", "risk"),
    *("matrix", "forgetting", "time", "storage", "losses", "latent", "diagnosis"),
}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A page of two streams, one of them with a ceiling and with methods better than ours."""
    folder = tmp_path_factory.mktemp("page")
    for seed in range(3):
        for method in ("merlin", "gdumb-ensemble"):
            make_run(folder / "runs", method, seed, stream_values={"tasks": 5})
    make_run(folder / "runs", "single", stream_values={"tasks": 5})
    make_run(folder / "runs", "joint", stream_values={"tasks": 5}, level=99.0)
    make_run(folder / "runs", "er", stream="permuted-mnist", stated=False)
    make_run(folder / "runs", "single", stream="permuted-mnist")
    file = folder / "report.html"
    file.write_text(rendered(content(read(find([folder / "runs"])).runs)), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def page(browser, address):
    with opened(browser, f"{address}#stream=Split+MNIST") as opened_page:
        yield opened_page
        assert opened_page.complaints == []
        assert {request.split("#")[0] for request in opened_page.requests} == {address}


def choose(section, *names):
    """Put these methods in colour, and no others."""
    section.locator("[data-chosen]:not([open]) summary").click()
    section.get_by_role("button", name="none", exact=True).click()
    for name in names:
        section.get_by_role("button", name=name, exact=True).click()


def test_every_figure_is_drawn(page):
    section = page.locator("#stream-0")
    assert set(section.locator("[data-plot]").evaluate_all("all => all.map(one => one.dataset.plot)")) == PLOTS
    assert section.locator("[data-plot]:not([data-drawn])").count() == 0
    for plot in sorted(PLOTS - {"matrix"}):
        shapes = section.locator(f"[data-plot={plot}] svg :is(path, rect, circle, line, ellipse)")
        assert shapes.count() > 5, plot
        assert section.locator(f"[data-plot={plot}] svg[role=img][aria-label]").count() == 1
    assert section.locator("[data-plot=matrix] table.matrix").count() == 2
    numbers = section.locator("svg").evaluate_all("all => all.map(one => one.outerHTML).join()")
    assert "NaN" not in numbers
    assert "undefined" not in numbers


def test_pictures_are_shown(page):
    widths = page.locator("#stream-0 .pictures img").evaluate_all("all => all.map(one => one.naturalWidth)")
    assert widths
    assert set(widths) == {28}


def test_methods_are_put_in_colour_and_grey_again(page):
    section = page.locator("#stream-0")
    lines = section.locator("[data-plot=curves] path.line[data-series]")
    grey = section.locator("[data-plot=curves] path.grey[data-series]")
    assert (lines.count(), grey.count()) == (5, 0)
    choose(section, "single", "gdumb-ensemble")
    assert (lines.count(), grey.count()) == (2, 3)
    assert "merlin" not in section.locator("[data-plot=storage] svg[role=img]").text_content()
    section.get_by_role("button", name="gdumb-ensemble", exact=True).press("Enter")
    assert lines.count() == 1
    section.get_by_role("button", name="all", exact=True).click()
    assert lines.count() == 5
    section.get_by_role("button", name="none", exact=True).click()
    assert (lines.count(), grey.count()) == (0, 5)
    assert section.locator("summary", has_text="Methods in colour (0 of 5)").count() == 1


def test_a_row_of_the_ranking_puts_its_method_in_colour(page):
    section = page.locator("#stream-0")
    choose(section, "merlin · marginal")
    plot = section.locator("[data-plot=ranking] .plot")
    plot.focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    pressed = section.locator(".chip[aria-pressed=true]").all_inner_texts()
    assert pressed == ["merlin · marginal", "single"]


def test_the_ranking_has_the_ceiling_and_the_control_as_lines(page):
    figure = page.locator("#stream-0 [data-plot=ranking]")
    names = figure.locator(".row-name").all_text_contents()
    assert names[0].startswith("merlin")
    assert "joint" not in names
    assert figure.locator("[data-line]").count() == 2
    assert "ceiling joint" in figure.locator("svg[role=img]").text_content()
    assert "control" in figure.locator("svg[role=img]").text_content()


def test_the_ceiling_is_never_on_the_front(page):
    for plot in ("stored", "seconds"):
        figure = page.locator(f"#stream-0 [data-plot={plot}]")
        assert figure.locator("[data-apart=ceiling]").count() == 1
        assert figure.locator("[data-apart]:not([data-apart=''])[data-front=true]").count() == 0
        assert figure.locator("[data-front=true]").count() > 0


def test_few_seeds_are_dots_and_no_bands(page):
    figure = page.locator("#stream-0 [data-plot=curves]")
    assert figure.locator(".band").count() == 0
    assert (
        figure.locator("circle.seed").count() == 3 * 5 * 3
    )  # ours in two ways and the control, three seeds after five tasks
    assert page.locator("#stream-0 [data-plot=ranking] .interval").count() == 0


def test_another_view_shows_its_own_figures(page):
    section = page.locator("#stream-0")
    section.get_by_text("task-masked", exact=True).first.click()
    assert section.locator("[data-plot=curves] path[data-series]").count() == 6  # with the answer that is told the task
    assert section.locator("tbody[data-view=class-incremental]").is_hidden()
    assert section.locator("tbody[data-view=task-masked]").is_visible()


def test_the_papers_curves_and_every_seed_can_be_shown(page):
    figure = page.locator("#stream-0 [data-plot=curves]")
    figure.get_by_text("paper's curves").click()
    assert figure.locator("path[data-paper]").count() == 3  # both answers of ours and the rival
    figure.get_by_text("every seed", exact=True).click()
    assert figure.locator("path.faint").count() == 3 * 3 + 2


def test_the_pointer_reads_values(page):
    plot = page.locator("#stream-0 [data-plot=curves] .plot")
    plot.scroll_into_view_if_needed()
    plot.hover(position={"x": 300, "y": 150})
    tooltip = page.locator("#tooltip")
    assert tooltip.is_visible()
    assert "After task" in tooltip.inner_text()
    assert "merlin · marginal" in tooltip.inner_text()
    page.mouse.move(0, 0)
    assert tooltip.is_hidden()


def test_the_arrow_keys_read_values_aloud_beside_the_figure(page):
    tooltip = page.locator("#tooltip")
    for plot in sorted(PLOTS - {"matrix"}):
        target = page.locator(f"#stream-0 [data-plot={plot}] .plot").first
        target.focus()
        page.keyboard.press("ArrowRight")
        assert page.locator("#spoken").inner_text(), plot
        page.keyboard.press("End")
        near, figure = tooltip.bounding_box(), target.locator("svg[role=img]").bounding_box()
        assert near["y"] < figure["y"] + figure["height"], plot
        assert near["y"] + near["height"] > figure["y"], plot
        page.keyboard.press("Escape")
        assert tooltip.is_hidden(), plot


def test_figures_can_be_read_as_tables(page):
    figure = page.locator("#stream-0 [data-plot=curves]")
    figure.locator("summary").click()
    table = figure.locator("details table")
    table.wait_for()  # browsers tell of an opened part when they are idle
    assert table.locator("tbody tr").count() == 5
    assert table.locator("th[scope=col]").count() == 6


def test_two_matrices_can_be_chosen(page):
    figure = page.locator("#stream-0 [data-plot=matrix]")
    left, right = figure.locator("table.matrix caption").all_inner_texts()
    assert "merlin" in left
    assert "gdumb-ensemble" in right
    figure.locator("select").nth(1).select_option(label="single")
    assert "single" in figure.locator("table.matrix caption").nth(1).inner_text()
    assert figure.locator("table.matrix").first.locator("tbody td[style]").count() == 15


def test_what_is_stored_is_not_stated_rather_than_nothing(page):
    page.get_by_role("tab", name="Permuted MNIST").click()
    section = page.locator("#stream-1")
    section.locator("[data-plot=storage][data-drawn]").wait_for()
    assert "not stated" in section.locator("[data-plot=storage] svg[role=img]").text_content()
    assert section.locator("table.data tbody tr", has_text="er").get_by_text("not stated").count() == 1
    assert "0 B" not in section.text_content()


def test_streams_are_tabs_that_the_keyboard_moves_through(page):
    together, first, second = page.get_by_role("tab").all()
    assert page.locator("#stream-1").is_hidden()
    assert page.locator("#all").is_hidden()
    first.focus()
    page.keyboard.press("ArrowRight")
    assert second.evaluate("tab => tab === document.activeElement")
    assert second.get_attribute("aria-selected") == "true"
    assert page.locator("#stream-0").is_hidden()
    assert page.locator("#stream-1 [data-plot=curves][data-drawn] path[data-series]").count() == 2
    page.keyboard.press("Home")
    assert together.get_attribute("aria-selected") == "true"
    assert page.locator("#all [data-plot=heat][data-drawn] td[data-share]").count() == 6
    assert page.locator("#all [data-plot=ranks][data-drawn]").count() == 0  # no two methods share two streams


def test_the_table_can_be_sorted(page):
    body = page.locator("#stream-0 table.sortable tbody").first
    values = "rows => rows.filter(row => !row.matches('.view')).map(row => Number(row.cells[2].dataset.value))"
    page.locator("#stream-0 table.sortable thead button").nth(2).click()
    column = body.locator("tr").evaluate_all(values)
    assert column == sorted(column, reverse=True)
    page.keyboard.press("Enter")
    column = body.locator("tr").evaluate_all(values)
    assert column == sorted(column)
    assert page.locator("#stream-0 [aria-sort=ascending]").count() == 1


def test_everything_can_be_reached_by_tabulator_and_shows_the_focus(page):
    page.locator("#stream-0 [data-chosen] summary").click()
    page.locator("body").evaluate(
        "body => { document.activeElement.blur(); body.ownerDocument.defaultView.scrollTo(0, 0); }"
    )
    page.mouse.click(2, 2)
    reached, unmarked = [], []
    for _ in range(140):
        page.keyboard.press("Tab")
        tag, outlined = page.evaluate(
            """() => {
                const at = document.activeElement, style = getComputedStyle(at.matches('.choice input') ? at.parentElement : at);
                return [at.className + ' ' + at.id + ' ' + at.tagName, style.outlineStyle !== 'none' || at === document.body];
            }"""
        )
        reached.append(tag)
        if not outlined:
            unmarked.append(tag)
    assert unmarked == []
    assert "skip" in reached[0]
    for part in ("theme", "tab ", "chip", "plot", "SELECT", "SUMMARY"):
        assert any(part in tag for tag in reached), part


def test_the_theme_follows_the_system_until_the_reader_chooses(browser, address):
    ground = "getComputedStyle(document.body).backgroundColor"
    address = f"{address}#stream=Split+MNIST"
    with opened(browser, address, scheme="dark") as page:
        dark = page.evaluate(ground)
        button = page.get_by_role("button", name="Theme")
        button.click()
        light = page.evaluate(ground)
        button.click()
        assert page.evaluate(ground) == dark
        assert page.complaints == []
    with opened(browser, address, scheme="light") as page:
        assert page.evaluate(ground) == light != dark
        lines = page.locator("#stream-0 [data-plot=curves] path[data-series]").first
        stroke = lines.evaluate("line => getComputedStyle(line).stroke")
        page.get_by_role("button", name="Theme").click()
        page.get_by_role("button", name="Theme").click()
        assert lines.evaluate("line => getComputedStyle(line).stroke") != stroke


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_narrow_screen_scrolls_in_one_direction_only(browser, address, width):
    with opened(browser, address, width=width, height=800, has_touch=True, is_mobile=True) as page:
        for name in ("all", "stream-0", "stream-1"):
            page.locator(f"#tab-{name}").click()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            small = page.locator(f"#{name} svg text").evaluate_all(
                "all => all.filter(one => one.getBoundingClientRect().height < 9).length"
            )
            assert small == 0
        assert page.complaints == []


def test_the_figures_follow_the_width_of_the_window(page):
    width = "document.querySelector('#stream-0 [data-plot=curves] svg').viewBox.baseVal.width"
    before = page.evaluate(width)
    page.set_viewport_size({"width": 700, "height": 900})
    # Not page.wait_for_function: it polls by eval, which the page's own policy forbids.
    page.evaluate(
        f"""before => new Promise(narrower => {{
            const look = () => {width} < before ? narrower() : requestAnimationFrame(look);
            look();
        }})""",
        before,
    )


def test_the_command_can_be_copied(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#stream-0 [data-copy]").first.click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("for seed in 0 1 2; do merlin run split-mnist")


def test_further_columns_are_shown_when_they_are_asked_for(page):
    table = page.locator("#stream-0 table.results")
    assert table.get_by_role("columnheader", name="NLL").count() == 0
    page.locator("#stream-0").get_by_role("button", name="More columns").click()
    assert table.get_by_role("columnheader", name="NLL").count() == 1
    page.locator("#stream-0").get_by_role("button", name="Fewer columns").click()
    assert table.get_by_role("columnheader", name="NLL").count() == 0


def test_a_link_opens_the_page_as_it_was(browser, page):
    section = page.locator("#stream-0")
    section.get_by_text("task-masked", exact=True).first.click()
    choose(section, "single", "merlin · aware")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    section.locator("[data-plot=curves] [data-export=link]").click()
    section.locator("[data-plot=curves]").get_by_text("Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    with opened(browser, link) as again:
        stream = again.locator("#stream-0")
        assert stream.locator("[data-views] input:checked").input_value() == "task-masked"
        assert stream.locator("[data-plot=curves] path.line[data-series]").count() == 2
        place = stream.locator("[data-plot=curves]").bounding_box()
        assert -5 <= place["y"] < 900
        assert again.complaints == []


SAVED = ["ranking", "stored", "curves", "reliability", "matrix", "time", "latent", "diagnosis", "results"]


@pytest.mark.parametrize("plot", SAVED)
def test_every_figure_can_be_saved(page, plot):
    figure = page.locator(f"#stream-0 :is([data-plot={plot}], [id$={plot}][data-results])").first
    figure.scroll_into_view_if_needed()
    saved = {}
    for kind in ("svg", "csv", "latex"):
        with page.expect_download() as download:
            figure.locator(f"[data-export={kind}]").click()
        saved[kind] = Path(download.value.path()).read_text("utf-8")
    root = ElementTree.fromstring(saved["svg"])
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not re.search(r"var\(|oklch|color\(|NaN", saved["svg"])  # what only a browser understands
    lines = list(csv.reader(saved["csv"].splitlines()))
    assert len({len(line) for line in lines}) == 1
    assert len(lines) > 2
    assert saved["latex"].count(r"\\") == len(lines)
    assert r"\toprule" in saved["latex"]
