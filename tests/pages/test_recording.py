"""A recording is played as a terminal would have shown it, and its end stays where a reader asks for no motion."""

from tools.pages.recording import drawn, frames
from tools.pages.terminal import Run, Screen, Style


def shown(data, columns=20):
    screen = Screen(columns)
    screen.write(data)
    return ["".join(run.text for run in line) for line in screen.lines()]


def test_lines_are_written_over_erased_and_wrapped():
    assert shown("half\rdone\n") == ["done", ""]
    assert shown("one\r\ntwo\x1b[1A\rnew\x1b[K")[:2] == ["new", "two"]
    assert shown("a long\x1b[2K\rgone")[0] == "gone"
    assert shown("abcdef", columns=4) == ["abcd", "ef"]
    assert shown("\x1b[?25lseen\x1b]0;a title\x07") == ["seen"]


def test_colours_are_ours():
    screen = Screen(40)
    screen.write("\x1b[1;31mred\x1b[0m \x1b[38;5;242mgrey\x1b[39m \x1b[38;2;114;156;31mgreen")
    assert screen.lines()[0] == (
        Run(0, "red ", Style("bad", bold=True)),
        Run(4, "grey ", Style("dim")),
        Run(9, "green", Style("leaf")),
    )


def test_pauses_are_cut_and_the_whole_has_a_length():
    moments, screens = frames([(0.0, "a"), (100.0, "b"), (200.0, "c")], 80)
    assert moments[-1] < 10
    assert ["".join(run.text for line in screen for run in line) for screen in screens] == ["a", "ab", "abc"]


def test_only_the_end_is_seen_without_motion():
    text = drawn("demo", {"command": "merlin demo", "columns": 40, "written": [[0.0, "wait"], [1.0, "\rdone"]]})
    assert "$ merlin demo" in text
    assert text.index(">wait<") < text.index(">done<")
    assert ".r0{opacity:0}" in text
    assert ".r1{opacity:0}" not in text
