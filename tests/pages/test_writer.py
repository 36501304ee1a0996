"""Every page is what the files make it, no figure of ours is written on two pages, and parts go between their marks."""

import re
from collections import Counter

import pytest
from tests.docs.pages import ROOT
from tools.pages.__main__ import WRITERS, main
from tools.pages.markdown import between, table, template

ROW = re.compile(r"^\|.*\d+\.\d\d ± \d+\.\d\d.*\|$", re.MULTILINE)


@pytest.mark.parametrize("name", WRITERS)
def test_pages_follow_from_the_files(name, capsys):
    assert main([name, "--check"]) == 0, capsys.readouterr().err


def test_a_page_that_does_not_follow_is_named(monkeypatch, capsys):
    import tools.pages.rivals

    monkeypatch.setattr(tools.pages.rivals, "pages", lambda: {"docs/rivals.md": "other"})
    assert main(["rivals", "--check"]) == 1
    assert "docs/rivals.md: not what the files make them" in capsys.readouterr().err
    assert (ROOT / "docs" / "rivals.md").read_text("utf-8") != "other"


def test_no_row_of_figures_is_on_two_pages():
    pages = [ROOT / "RESULTS.md", ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    rows = Counter(row for page in pages for row in set(ROW.findall(page.read_text("utf-8"))))
    assert rows
    assert [row for row, count in rows.items() if count > 1] == []


def test_the_readme_quotes_what_the_streams_pages_have():
    lines = [
        line
        for line in (ROOT / "README.md").read_text("utf-8").splitlines()
        if "](docs/results/" in line and "|" in line
    ]
    assert len(lines) == 4
    for line in lines:
        page = ROOT / re.search(r"\((docs/results/.*?)\)", line)[1]
        exact = {f"{float(value):.1f}" for value in re.findall(r"\| (\d+\.\d\d)", page.read_text("utf-8"))}
        assert set(re.findall(r"\| (\d+\.\d)", line)) <= exact


def test_parts_are_written_between_their_marks_and_nowhere_else():
    def marked(one, two):
        begin, end = "<!-- {}: written by tools/pages -->", "<!-- end of {} -->"
        return (
            f"a\n{begin.format('one')}\n{one}{end.format('one')}\nb\n{begin.format('two')}\n{two}{end.format('two')}\n"
        )

    expected = marked("\n| x |\n\n", "\n| y |\n\n")
    assert between(marked("old\n", ""), {"one": "| x |\n", "two": "| y |"}) == expected
    assert between(expected, {"one": "| x |", "two": "| y |"}) == expected
    with pytest.raises(ValueError, match="no marks for three"):
        between(expected, {"three": ""})


def test_tables_set_numbers_to_the_right():
    assert table(("name", "A:"), [("x", 1)]).splitlines()[1] == "|---|---:|"


def test_a_template_gets_all_that_it_asks_for_and_no_more():
    with pytest.raises(KeyError, match="asks for"):
        template("rivals.md", searches="")
    with pytest.raises(KeyError, match="has no"):
        template("rivals.md", searches="", origins="", other="")
