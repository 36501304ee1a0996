"""One bad run hides no others: whatever its files hold, it is named, and the rest is shown."""

import copy
import json
import os
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merlin_cl.cli import exit_code
from merlin_cl.report.page.salvage import salvaged
from merlin_cl.report.page.sources import find, read
from merlin_cl.report.watch import Watch

from ..made import make_result_file, make_run

JUNK = ["{}", "[]", "null", "3", '"text"', "{", "", "\x00\x01", "[" * 5000, '{"scores": []}', '{"scores": [{}]}', "NaN"]
FILES = ["result.json", "config.json", "env.json", "events.jsonl"]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_run("runs", "single")
    return tmp_path / "runs"


@pytest.fixture
def bad(root):
    return make_run(root, "er")


def told(capsys, *words):
    """What a command prints on both channels; it must not fail."""
    capsys.readouterr()
    code = exit_code([str(word) for word in words])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert "Traceback" not in err
    return out, err


def assert_all_show_the_good_one(capsys, root, bad, named=True):
    out, err = told(capsys, "show", root)
    assert "single" in out
    assert not named or ("Left out" in err and bad.name in err)
    out, err = told(capsys, "report", root, "--out", root.parent / "page.html")
    assert not named or ("Left out" in err and bad.name in err)
    for page in ((root.parent / "page.html").read_text(), (watch := Watch([root], rest=0)).page()):
        assert "single" in page
        assert bad.name in page
    assert "single" in watch.fragment()["main"]
    assert [run["method"] for run in watch.live()["progress"]["runs"]][-1] == "single"
    out, _ = told(capsys, "list", root)
    assert "single" in out


@pytest.mark.parametrize("content", JUNK)
def test_a_result_of_any_junk_is_named_and_the_rest_is_shown(root, bad, capsys, content):
    (bad / "result.json").write_text(content)
    assert_all_show_the_good_one(capsys, root, bad)


@pytest.mark.parametrize("file", FILES)
def test_any_file_of_a_run_may_be_an_empty_object(root, bad, capsys, file):
    (bad / file).write_text("{}")
    assert_all_show_the_good_one(capsys, root, bad, named=file in ("result.json", "config.json"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
@pytest.mark.parametrize("file", [*FILES, "lock", "../grid.json", "../other.json", "checkpoint/task-009.safetensors"])
@pytest.mark.parametrize("what", ["pipe", "endless"])
def test_what_is_no_regular_file_is_not_waited_for(root, bad, capsys, file, what):
    (bad / file).unlink(missing_ok=True)
    if what == "pipe":
        os.mkfifo(bad / file)
    else:
        (bad / file).symlink_to("/dev/zero")
    named = file in ("result.json", "config.json")
    out, err = told(capsys, "show", root)
    assert "single" in out
    assert not named or bad.name in err
    told(capsys, "report", root, "--out", root.parent / "page.html")
    watch = Watch([root])
    assert "single" in watch.page()
    watch.live()
    told(capsys, "list", root)


def test_when_all_are_bad_there_is_one_sentence(root, capsys):
    (only,) = root.iterdir()
    (only / "result.json").write_text("{}")
    for words in (["show", root], ["report", root]):
        assert exit_code([str(word) for word in words]) == 2
        said = capsys.readouterr().err.splitlines()
        assert said[0].startswith("Left out: ")
        assert "result.json is damaged (stream is not text)" in said[0]
        assert said[-1].startswith("merlin: There is no finished run")


def test_a_bad_result_file_is_named(root, bad, capsys, tmp_path):
    kept = tmp_path / "kept"
    make_result_file(bad, kept / "good.json")
    record = json.loads((kept / "good.json").read_text())
    for name in record["result"]:
        result = {key: value for key, value in record["result"].items() if key != name}
        (kept / f"without-{name}.json").write_text(json.dumps({"result": result}))
    sources = read(find([kept]))
    assert len(sources.runs) + len(sources.problems) == len(record["result"])  # without scores it is no result at all
    assert all("without-" in problem for problem in sources.problems)
    assert "er" in told(capsys, "report", kept, "--out", tmp_path / "page.html")[0] or (tmp_path / "page.html").exists()


def places(value, path=()):
    """The path of every value within a value."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def altered(value, path, junk):
    value = copy.deepcopy(value)
    target = value
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = junk
    return value


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    """A good run and another of the same kind that is spoiled again and again; its files as they should be."""
    root = tmp_path_factory.mktemp("fuzzed") / "runs"
    make_run(root, "merlin", 0)
    bad = make_run(root, "merlin", 1)
    shutil.rmtree(bad / "checkpoint")
    return root, bad, {file: (bad / file).read_text() for file in FILES}


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_is_altered_the_other_run_is_shown(fuzzed, data):
    root, bad, files = fuzzed
    for file, text in files.items():
        (bad / file).write_text(text)
    file = data.draw(st.sampled_from(FILES))
    if file == "events.jsonl":
        (bad / "result.json").unlink()  # a run at work is known by its events alone
        lines = files[file].splitlines()
        at = data.draw(st.integers(0, len(lines) - 1))
        lines[at] = json.dumps(spoiled(json.loads(lines[at]), data))
        (bad / file).write_text("\n".join(lines))
    else:
        (bad / file).write_text(json.dumps(spoiled(json.loads(files[file]), data)))
    watch = Watch([root], rest=0)
    assert "merlin" in watch.page()
    json.dumps(watch.fragment(), allow_nan=False)
    live = watch.live()
    assert any(run["seed"] == 0 for run in live["progress"]["runs"])
    assert exit_code(["show", str(root)]) == 0


def spoiled(value, data):
    path = data.draw(st.sampled_from([path for path in places(value) if path]))
    return altered(value, path, data.draw(json_values))


def test_runs_that_do_alone_and_not_together_are_told_apart(root):
    runs = read(find([root, make_run(root, "er"), make_run(root, "merlin")])).runs

    def make(runs, problems):
        methods = [run.result["method"] for run in runs]
        if "er" in methods and "merlin" in methods:
            raise KeyError("together")
        return methods

    methods, problems = salvaged(make, runs, ["one before"])
    assert len(methods) == 2
    assert "single" in methods
    assert problems[0] == "one before"
    assert "cannot be shown (KeyError: 'together')" in problems[1]
