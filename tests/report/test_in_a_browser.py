"""The page in a real browser: quiet, offline, drawn, and usable by pointer, keyboard and screen reader, on any screen."""

import pytest

from merlin_cl.report.page.build import content
from merlin_cl.report.page.render import page as rendered
from merlin_cl.report.page.sources import find, read

from .browsing import opened
from .made import make_run

PLOTS = {"curves", "matrix", "forgetting", "cost", "time", "storage", "losses", "latent", "diagnosis"}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A page of two streams."""
    folder = tmp_path_factory.mktemp("page")
    for seed in range(3):
        for method in ("merlin", "gdumb-ensemble"):
            make_run(folder / "runs", method, seed, stream_values={"tasks": 5})
    make_run(folder / "runs", "single", stream_values={"tasks": 5})
    make_run(folder / "runs", "er", stream="permuted-mnist", stated=False)
    file = folder / "report.html"
    file.write_text(rendered(content(read(find([folder / "runs"])).runs)), encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def page(browser, address):
    with opened(browser, address) as found:
        yield found
        assert found.complaints == []
        assert found.requests == [address]


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


def test_a_method_can_be_taken_out_and_put_back(page):
    section = page.locator("#stream-0")
    lines = section.locator("[data-plot=curves] path[data-series]")
    chip = section.get_by_role("button", name="gdumb-ensemble", exact=True)
    assert lines.count() == 4  # two answers of ours that are not told the task, the control, a rival
    chip.click()
    assert chip.get_attribute("aria-pressed") == "false"
    assert lines.count() == 3
    assert "gdumb-ensemble" not in section.locator("[data-plot=storage] svg[role=img]").text_content()
    chip.press("Enter")
    assert chip.get_attribute("aria-pressed") == "true"
    assert lines.count() == 4
    section.get_by_role("button", name="none", exact=True).click()
    assert lines.count() == 0
    section.get_by_role("button", name="all", exact=True).click()
    assert lines.count() == 4


def test_another_view_shows_its_own_figures(page):
    section = page.locator("#stream-0")
    section.get_by_role("button", name="single", exact=True).click()
    section.get_by_text("task-masked", exact=True).first.click()
    lines = section.locator("[data-plot=curves] path[data-series]")
    assert lines.count() == 4  # with the answer that is told the task, without the rival taken out before


def test_the_papers_curves_and_every_seed_can_be_shown(page):
    figure = page.locator("#stream-0 [data-plot=curves]")
    figure.get_by_text("paper's curves").click()
    assert (
        figure.locator("path[data-paper]").count() == 3
    )  # both answers of ours and the rival; the paper has no control
    figure.get_by_text("every seed").click()
    assert figure.locator("path.faint").count() == 3 * 3 + 1


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
    assert table.locator("tbody tr").count() == 4
    assert table.locator("th[scope=col]").count() == 6
    page.locator("#stream-0").get_by_role("button", name="single", exact=True).click()
    assert table.locator("tbody tr").count() == 3


def test_two_matrices_can_be_chosen(page):
    figure = page.locator("#stream-0 [data-plot=matrix]")
    left, right = figure.locator("table.matrix caption").all_inner_texts()
    assert "merlin" in left
    assert "gdumb-ensemble" in right
    figure.locator("select").nth(1).select_option(label="single")
    assert "single" in figure.locator("table.matrix caption").nth(1).inner_text()
    assert figure.locator("table.matrix").first.locator("tbody td[style]").count() == 15


def test_cost_can_be_seconds(page):
    figure = page.locator("#stream-0 [data-plot=cost]")
    assert "stored between tasks" in figure.locator("svg").text_content()
    figure.get_by_text("CPU time", exact=True).first.click()
    assert "CPU time of a run" in figure.locator("svg").text_content()


def test_what_is_stored_is_not_stated_rather_than_nothing(page):
    page.get_by_role("tab", name="permuted-mnist").click()
    section = page.locator("#stream-1")
    section.locator("[data-plot=storage][data-drawn]").wait_for()
    assert "not stated" in section.locator("[data-plot=storage] svg[role=img]").text_content()
    assert section.locator("table.data tbody tr", has_text="er").get_by_text("not stated").count() == 1
    assert "0 B" not in section.text_content()


def test_streams_are_tabs_that_the_keyboard_moves_through(page):
    first, second = page.get_by_role("tab").all()
    assert page.locator("#stream-1").is_hidden()
    first.focus()
    page.keyboard.press("ArrowRight")
    assert second.evaluate("tab => tab === document.activeElement")
    assert second.get_attribute("aria-selected") == "true"
    assert page.locator("#stream-0").is_hidden()
    assert page.locator("#stream-1 [data-plot=curves][data-drawn] path[data-series]").count() == 1


def test_the_table_can_be_sorted(page):
    body = page.locator("#stream-0 table.sortable tbody").first
    values = "rows => rows.filter(row => !row.matches('.view')).map(row => Number(row.cells[1].dataset.value))"
    page.locator("#stream-0 table.sortable").get_by_role("button", name="average incremental").click()
    found = body.locator("tr").evaluate_all(values)
    assert found == sorted(found, reverse=True)
    page.keyboard.press("Enter")
    found = body.locator("tr").evaluate_all(values)
    assert found == sorted(found)
    assert page.locator("#stream-0 [aria-sort=ascending]").count() == 1


def test_everything_can_be_reached_by_tabulator_and_shows_the_focus(page):
    reached, unmarked = [], []
    for _ in range(90):
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
        for name in ("stream-0", "stream-1"):
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
    page.wait_for_function(f"{width} < {before}")


def test_the_command_can_be_copied(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#stream-0 [data-copy]").first.click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("for seed in 0 1 2; do merlin run split-mnist")
