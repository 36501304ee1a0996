"""Tables with texts and gaps, and tasks that come back, from a file to a saved learner that takes the same."""

import json

import numpy as np
import pytest

from merlin_cl import Stream, load
from merlin_cl.cli import exit_code
from merlin_cl.errors import InputError, UsageError

COLOURS = np.array(["red", "green", "blue"])


def written(path, count=240, seed=0):
    """Rows whose colour tells the class, some heights missing, in seasons that come back."""
    draws = np.random.default_rng(seed)
    kinds = draws.integers(0, 3, count)
    heights = np.where(draws.random(count) < 0.2, np.nan, 170 + draws.normal(0, 5, count))
    seasons = np.repeat(["winter", "summer", "winter"], count // 3)
    rows = [
        f"{COLOURS[kind]},{'' if np.isnan(height) else height},{season},{'abc'[kind]}"
        for kind, height, season in zip(kinds, heights, seasons, strict=True)
    ]
    path.write_text("\n".join(["colour,height,season,label", *rows]))
    return path


def test_a_run_learns_them_and_its_model_takes_the_same(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "people.csv")
    options = ["--task-column", "season", "--task-order", "returning", "--categories", "colour", "--missing", "mean"]
    assert exit_code(["run", "./people.csv", "--method", "slda", *options, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["scores"][0]["matrix"]) == 3
    model = load(told["folder"])
    assert model.tasks_ == ["winter", "summer", "winter (2)"]
    (tmp_path / "asked.csv").write_text("colour,height\nred,\ngreen,171\nviolet,160\n")
    assert exit_code(["predict", told["folder"], "asked.csv", "--json"]) == 0
    answers = [row["label"] for row in json.loads(capsys.readouterr().out)]
    assert answers[:2] == ["a", "b"]
    assert exit_code(["learn", told["folder"], "people.csv", "--task-column", "season", "--out", "taught"]) == 0
    assert load(tmp_path / "taught").visits_[-3:] == ["winter", "summer", "winter"]


def test_a_stream_of_them(tmp_path):
    table = written(tmp_path / "people.csv")
    stream = Stream.from_table(
        table, task="season", categories=["colour"], missing="mean", task_order="returning", scenario="auto"
    )
    assert [task.info.name for task in stream] == ["winter", "summer", "winter (2)"]
    assert stream.info.input_shape == (5,)
    assert stream.info.domain_incremental
    assert stream.encoding.names == ["colour=" + name for name in (*stream.encoding.categories[0], "other")] + [
        "height"
    ]
    x, _ = stream[0].test()
    assert np.isfinite(x.numpy()).all()


@pytest.mark.parametrize(
    ("more", "error", "sentence"),
    [
        ({}, InputError, "which is no number; leave the column out .drop., or name it among categories"),
        ({"categories": ["colour"]}, InputError, "has no value in row .*set missing to mean"),
        ({"categories": ["color"]}, UsageError, "Unknown column to learn from 'color'; did you mean 'colour'"),
        ({"categories": ["colour"], "missing": "median"}, UsageError, "Unknown way with missing values 'median'"),
        (
            {"categories": ["colour"], "missing": "mean", "task_order": "returning", "test": True},
            UsageError,
            "leave the test part out",
        ),
    ],
)
def test_wrong_things(tmp_path, more, error, sentence):
    table = written(tmp_path / "people.csv")
    if more.pop("test", False):
        more["test"] = table
    with pytest.raises(error, match=sentence):
        list(Stream.from_table(table, task="season", **more))
