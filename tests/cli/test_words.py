"""Tasks described by words, from the shell."""

import json
from pathlib import Path

import pytest

SMALL = [
    "run", "split-mnist", "--tasks", "2", "--images-per-task", "20", "--base-models", "2", "--models", "2",
    "--fine-tune-epochs", "1", "--hidden-units", "8", "--inference", "aggregate",
]  # fmt: skip
WORDS = "zero 1 0\none 1 1\ntwo 0 2\n"


def test_the_file_is_recorded_and_unknown_words_are_told_of(merlin):
    Path("words.txt").write_text(WORDS)
    code, _, err = merlin(*SMALL, "--descriptor", "words", "--words", "words.txt")
    assert code == 0
    assert "Note: words.txt has no vector for 3; other words stand for these classes." in err
    (folder,) = Path("runs").iterdir()
    config = json.loads((folder / "config.json").read_text())
    assert config["method"]["descriptor"] == "words"
    assert config["method"]["words"] == str(Path("words.txt").resolve())
    assert config["source"].endswith(", described by words.txt")
    (folder / "result.json").unlink()  # as if it had been interrupted
    assert merlin("resume", folder)[0] == 0
    (folder / "result.json").unlink()
    Path("words.txt").write_text(WORDS.replace("0 2", "0 3"))
    code, _, err = merlin("resume", folder)
    assert code == 1
    assert "was begun with other data" in err


def test_task2vec_runs(merlin):
    assert merlin(*SMALL, "--descriptor", "task2vec")[0] == 0


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "no file of word vectors words.txt"),
        ("zero 1 0\none 1\n", "Line 2 of"),
        ("zero 1 0\none 1 x\n", "has 'x' among its numbers"),
        ("un 1 0\ndeux 1 1\n", "no vector for any word of the class names"),
        (WORDS.replace("two", "deux"), "None of the words in 2, 3 has a vector"),
    ],
)
def test_bad_files_are_refused_before_anything_is_written(merlin, content, sentence):
    if content is not None:
        Path("words.txt").write_text(content)
    code, _, err = merlin(*SMALL, "--descriptor", "words", "--words", "words.txt")
    last = err.splitlines()[-1]
    assert code == (2 if content is None else 1)
    assert last.startswith("merlin: ")
    assert last.endswith(".")
    assert sentence in last
    assert not Path("runs").exists()


def test_words_without_the_descriptor_are_a_mistake(merlin):
    code, _, err = merlin(*SMALL, "--words", "words.txt")
    assert code == 2
    assert "use descriptor words with it" in err
