"""Every Python block of the README and the documentation runs, in an empty folder; every `merlin` command parses.

The blocks of a page share a namespace. On pages that say that all of them runs, the commands run, too.
"""

import dataclasses
import glob
import re
import sys

import pytest
from tests.docs.pages import NAMES, ROOT, blocks, without_code

from merlin_cl.cli import COMMANDS, exit_code, options
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.streams.datasets import mnist
from merlin_cl.streams.datasets.dataset import LoadedPart
from merlin_cl.streams.user_data.paths import looks_like_a_path

WHOLE = ("docs/own-data.md", "docs/tutorial.md")
"""Pages whose commands are run."""


class Understood(BaseException):
    """A command line was parsed to its end; raised in place of doing what it says."""


def text_of(name):
    return (ROOT / name).read_text("utf-8")


@pytest.fixture
def few_test_images(monkeypatch):
    """The embedded slice of MNIST has a tenth of its test images: what a page prints of its scores is not looked at."""

    def unpacked(part, whole=mnist._unpacked):
        count = 1000 if part == "test" else None
        return LoadedPart(*(tensor[:count] for tensor in (whole(part).x, whole(part).labels)))

    monkeypatch.setattr(mnist, "_unpacked", unpacked)


@pytest.fixture
def few_updates(monkeypatch):
    """Learners that are built learn with one update a batch, for the same reason."""

    def built(self, *arguments, build=MethodSettings.build, **named):
        less = {"updates_per_batch": 1} if getattr(self, "updates_per_batch", 1) > 1 else {}
        return build(dataclasses.replace(self, **less), *arguments, **named)

    monkeypatch.setattr(MethodSettings, "build", built)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name in WHOLE or any(b.python for b in blocks(text_of(name)))]
)
@pytest.mark.usefixtures("short_fits", "few_test_images", "few_updates")
def test_the_code_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    known = {"__name__": "__page__"}
    for block in blocks(text_of(name)):
        if block.python and "notest" not in block.info:
            exec(compile("\n" * (block.line - 1) + block.code, name, "exec"), known)
        elif block.shell and name in WHOLE:
            for words in block.commands():
                expanded = [path for word in words for path in sorted(glob.glob(word)) or [word]]
                assert exit_code(expanded) == 0, (words, capsys.readouterr().err)


@pytest.mark.parametrize("name", NAMES)
def test_a_block_that_is_not_run_says_why(name):
    silent = [
        block.code
        for block in blocks(text_of(name))
        if block.python and "notest" in block.info and "not run" not in (block.before + block.code).lower()
    ]
    assert silent == []


@pytest.fixture
def understands(tmp_path, monkeypatch):
    """Whether a command line parses, by the parser that would serve it; what is wrong with it otherwise."""

    class Parser:
        def __getattr__(self, name):
            return getattr(tyro, name)

        def cli(self, *arguments, **settings):
            value, strangers = tyro.cli(*arguments, **settings)
            if strangers:
                return value, strangers
            raise Understood

    tyro = options.tyro
    monkeypatch.setattr(options, "tyro", Parser())
    monkeypatch.chdir(tmp_path)

    def check(words, capsys):
        words = ["0" if word in ("N", "'$0'") else word for word in words]
        place = {"run": 1, "tune": 2}.get(words[0], len(words))
        for data in filter(looks_like_a_path, words[place : place + 1]):
            tmp_path.joinpath(data).touch() if "." in data[1:] else tmp_path.joinpath(data).mkdir(exist_ok=True)
        try:
            code = exit_code([*words])
        except Understood:
            return ""
        return "" if code == 0 else f"merlin {' '.join(words)}: {capsys.readouterr().err}"

    return check


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WHOLE])
def test_the_commands_parse(name, understands, capsys):
    shell = [block for block in blocks(text_of(name)) if block.shell]
    wrong = [wrong for block in shell for words in block.commands() if (wrong := understands(words, capsys))]
    assert wrong == []


def written_in(text):
    """Commands with options between backticks, as words; N stands for any number."""
    written = re.findall(r"`merlin ([a-z]+ [^`]*--[^`]*)`", text)
    return [command.split() for command in written if not re.search(r"[][…|<>{}]|\.\.\.", command)]


@pytest.mark.parametrize("name", NAMES)
def test_options_in_the_text_exist(name, understands, capsys):
    wrong = [wrong for words in written_in(without_code(text_of(name))) if (wrong := understands(words, capsys))]
    assert wrong == []


def test_options_in_docstrings_and_messages_exist(understands, capsys):
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "src").rglob("*.py"))]
    wrong = [wrong for text in texts for words in written_in(text) if (wrong := understands(words, capsys))]
    assert wrong == []


def test_commands_in_docstrings_and_messages_exist():
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "src").rglob("*.py"))]
    named = {name for text in texts for name in re.findall(r"`merlin ([a-z]+)[ `]", text)}
    assert named
    assert named <= COMMANDS.keys()


def test_a_wrong_option_is_found(understands, capsys):
    assert "--sead" in understands(["run", "split-mnist", "--sead", "1"], capsys)
    assert understands(["run", "split-mnist", "--seed", "1"], capsys) == ""
