"""What a terminal of 80 or 120 columns shows: no line too long, no word broken or cut, one bar, a sentence at the end."""

import re
from pathlib import Path

import pytest
from tests.report.made import make_run

from merlin_cl.cli import COMMANDS, bench
from merlin_cl.report.closing import closings
from merlin_cl.report.summary import summarise
from merlin_cl.runs.engines import choice
from merlin_cl.runs.folder import RunFolder
from runs.test_grid import HereEngine

from .terminal import COLOURS, lines_of, typed, typed_in_turn, words_of

WIDE = 400
"""Columns on which nothing has to wrap."""
LEFT_OUT = {"On", "a", "wider", "terminal", "also"}
"""The words that name columns there is no room for."""
SMALL = ("--tasks", 2, "--images-per-task", 40)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two seeds of three methods with long names, a run of ten tasks, and one that is not finished."""
    root = tmp_path_factory.mktemp("screens") / "runs"
    for seed in range(2):
        for method in ("merlin", "gdumb-ensemble", "generative-replay"):
            make_run(root, method, seed)
    make_run(root, "joint")
    make_run(root, "single", stream="permuted-mnist", stream_values={"tasks": 10})
    make_run(root, "er", done=1)
    return root


def screens(made):
    """The commands to look at, of those that compute nothing."""
    one = next(path for path in sorted(made.iterdir()) if "-merlin-s0" in path.name)
    long = next(path for path in made.iterdir() if "permuted" in path.name)
    return {
        "list": ("list", made),
        "show": ("show", made),
        "show one": ("show", one),
        "show ten tasks": ("show", long),
        "diagnose": ("diagnose", one),
        "data list": ("data", "list"),
        "reproduce": ("reproduce", "list"),
        "bench": ("bench", "--help"),
        "error": ("show", made / "nothing-of-this-name-is-here-and-the-sentence-is-long"),
    }


def one_word(line, width):
    """Whether a path or a command, which is never broken, takes more than a line."""
    return max(map(len, line.split())) >= width - 10 or re.search(r"merlin (\S+ )+\S*/", line)


NAMES = ("list", "show", "show one", "show ten tasks", "diagnose", "data list", "reproduce", "bench", "error")


@pytest.fixture(scope="module")
def shown(made):
    """What every command writes, by the width of the terminal and the command's name."""
    commands = screens(made)
    assert set(commands) == set(NAMES)
    return typed_in_turn(commands, [80, 120, WIDE])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_or_broken(shown, name):
    known = words_of(lines_of(shown[WIDE][name]))
    for width in (80, 120):
        text = shown[width][name]
        lines = lines_of(text)
        # A path or a command is one word, which no terminal of this width may have room for.
        long = [line for line in lines if len(line) > width and not one_word(line, width)]
        assert long == [], f"{name} at {width} columns"
        assert "…" not in text
        assert words_of(lines) - known - LEFT_OUT == set()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A small run on a terminal, from its first line to its last."""
    out = tmp_path_factory.mktemp("ran") / "runs"
    return typed("run", "split-mnist", "--method", "er", *SMALL, "--out", out, width=80), out


def test_a_run_has_one_bar_with_the_time_left_and_ends_with_a_sentence(ran):
    (text, code), out = ran
    assert code == 0
    shares = [int(share) for share in re.findall(r"(\d+)%", text)]
    assert shares == sorted(shares)
    assert "reading the data" in text
    lines = lines_of(text)
    assert max(map(len, (line for line in lines if str(out) not in line))) <= 80
    done = [line for line in lines if " done in " in line]
    assert [line.split(" done")[0] for line in done] == ["task 1/2", "task 2/2"]
    said = " ".join(" ".join(lines).split())
    assert re.search(r"In words: er answered [\d.]+ % right on average .* and keeps [\d.]+ [kM]?B\.", said)
    assert COLOURS.search(text)


def looked_at(text, width=80):
    """The lines that stay on a screen, none too long and nothing cut."""
    lines = lines_of(text)
    assert [line for line in lines if len(line) > width and not one_word(line, width)] == []
    assert "…" not in text
    return lines


def said_in(lines):
    return " ".join(" ".join(lines).split())


def test_the_demonstration_ends_with_what_its_numbers_mean(small_demo, on_screen):
    code, text = on_screen("demo")
    assert code == 0
    said = said_in(looked_at(text))
    assert re.search(
        r"Split MNIST, class-incremental: .* too few seeds to tell them apart\. MERLIN is [\d.]+ points", said
    )
    assert COLOURS.search(text)


def test_a_grid_has_one_bar_and_ends_with_its_ranking(on_screen, monkeypatch):
    monkeypatch.setattr(choice, "engine_for", lambda name, root, *rest: HereEngine(root))
    Path("grid.toml").write_text(
        'streams = [{name = "split-mnist", tasks = 2, images_per_task = 20}]\nmethods = ["single", "means"]\nseeds = 2\n'
    )
    code, text = on_screen("grid", "grid.toml")
    assert code == 0
    said = said_in(looked_at(text))
    assert "4 of 4 runs done" in said
    assert re.search(r"means [\d.]+, single [\d.]+; too few seeds to tell them apart\.", said)


def test_a_search_says_what_its_settings_gain(on_screen):
    code, text = on_screen("tune", "slda", "split-mnist", "--trials", 2, "--tasks", 2, "--seeds", 7)
    assert code == 0
    shares = [int(share) for share in re.findall(r"(\d+)%", text)]
    assert shares == sorted(shares)
    assert re.search(r"In words: .* on held-out examples", said_in(looked_at(text)))


def test_a_table_of_the_paper_says_how_much_of_it_was_reproduced(on_screen, monkeypatch):
    monkeypatch.setattr(choice, "engine_for", lambda name, root, *rest: HereEngine(root))
    code, text = on_screen("reproduce", "main", "--streams", "split-mnist", "--methods", "single", "--quick")
    assert code == 0
    assert re.search(r"In words: of \d+ figures? that the paper has for main, \d+ ", said_in(looked_at(text)))


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=lambda command: " ".join(command))
def test_every_help_fits_a_terminal(command, on_screen):
    code, text = on_screen(*command, "--help")
    assert code == 0
    looked_at(text)


def test_what_is_in_a_file_fits_a_terminal(ran, on_screen):
    _, out = ran
    code, text = on_screen("model", next(out.iterdir()))
    assert code == 0
    (settings,) = re.findall(r"^settings +(\S.*\n(?: {14}\S.*\n)+)", "\n".join(looked_at(text)), re.MULTILINE)
    assert "weight_decay" in settings


def test_no_color_and_pipes_have_no_colours(ran, merlin):
    _, out = ran
    text, _ = typed("show", out, width=80, NO_COLOR="1")
    assert not COLOURS.search(text)
    assert "In words" in text
    _, piped, _ = merlin("show", out)
    assert "\x1b" not in piped


def test_closing_sentences_say_how_sure_a_ranking_is(made):
    results = [RunFolder(path).result() for path in sorted(made.iterdir()) if RunFolder(path).finished]
    sentences = closings(summarise(results))
    (ranked, style), (alone, _) = sorted(sentences, reverse=True)
    assert ranked.startswith("Split MNIST, class-incremental: merlin ")
    assert "too few seeds to tell them apart" in ranked
    assert re.search(r"MERLIN is [\d.]+ points above gdumb-ensemble", ranked)
    assert "yellow" in style
    assert alone.startswith("In words: single ")


def test_bench_measures_every_part_it_names(monkeypatch, merlin):
    from merlin_cl.bench import vae
    from merlin_cl.bench.measurement import Measurement

    def measure(told):
        told(0, 2)
        told(1, 2)
        return Measurement("VAE", "in brief", "the VAE is quick", note="twice")

    monkeypatch.setattr(vae, "measure", measure)
    code, out, _ = merlin("bench", "vae")
    assert (code, "In words: on this machine the VAE is quick." in out) == (0, True)
    assert set(bench.SECONDS) == set(bench.PARTS)
