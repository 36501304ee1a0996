"""Tables: CSV, Parquet and data frames; standardised columns; the row and column of whatever is wrong."""

import csv

import numpy as np
import pytest
import torch

from merlin_cl.errors import InputError, MerlinError, UsageError
from merlin_cl.streams.stream import Stream

HEADER = ["width", "height", "kind", "site"]


def rows(count=60):
    draws = np.random.default_rng(0)
    return [
        [f"{draws.normal(50, 9):.4f}", f"{draws.normal(-1, 0.1):.4f}", ["oak", "elm", "fir"][row % 3], row // 30 + 9]
        for row in range(count)
    ]


def write(path, content, header=HEADER, separator=","):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows([header, *content])
    return path


@pytest.fixture
def table(tmp_path):
    return write(tmp_path / "trees.csv", rows())


def test_labels_tasks_and_standardised_columns(table):
    stream = Stream.from_table(table, "kind", task="site")
    assert stream.class_names == ("elm", "fir", "oak")
    assert (stream.info.name, stream.info.input_shape, stream.info.domain_incremental) == ("trees", (2,), True)
    assert [task.info.name for task in stream] == ["9", "10"]
    first = torch.cat([x for x, _ in stream[0].batches(10)])
    torch.testing.assert_close(first.mean(dim=0), torch.zeros(2), atol=1e-5, rtol=0)
    torch.testing.assert_close(first.std(dim=0, correction=0), torch.ones(2))
    raw = Stream.from_table(table, "kind", task="site", standardise=False)
    assert raw[0].test()[0][:, 0].mean() > 30


def test_columns_can_be_chosen_and_dropped(table):
    assert Stream.from_table(table, "kind", task="site", drop=["width"]).info.input_shape == (1,)
    assert Stream.from_table(table, "kind", tasks=3, columns=["width", "site"]).info.input_shape == (2,)
    assert Stream.from_table(table, "kind", tasks=[["oak"], ["elm"]]).class_names == ("oak", "elm")


@pytest.mark.parametrize(("name", "separator"), [("t.csv", ";"), ("t.tsv", "\t"), ("t.csv", ",")])
def test_separators(tmp_path, table, name, separator):
    other = write(tmp_path / name, rows(), separator=separator)
    assert (
        Stream.from_table(other, "kind", task="site").fingerprint
        == Stream.from_table(table, "kind", task="site").fingerprint
    )


def test_a_part_column_and_a_test_table(tmp_path, table):
    content = [[*row, "test" if number % 5 == 0 else "train"] for number, row in enumerate(rows())]
    with_parts = write(tmp_path / "parts.csv", content, [*HEADER, "part"])
    stream = Stream.from_table(with_parts, "kind", task="site", part="part")
    assert [(task.train_count, task.test_count) for task in stream] == [(24, 6)] * 2
    apart = Stream.from_table(table, "kind", task="site", test=table)
    assert [(task.train_count, task.test_count) for task in apart] == [(30, 30)] * 2
    content[41][0] = ""
    with pytest.raises(InputError, match=r"Column 'width' .* has no value in row 42"):
        Stream.from_table(write(with_parts, content, [*HEADER, "part"]), "kind", task="site", part="part")


@pytest.mark.parametrize(
    ("row", "column", "value", "sentence"),
    [
        (6, 0, "", r"Column 'width' of .*trees\.csv has no value in row 7"),
        (6, 1, "NaN", "Column 'height' .* has no value in row 7"),
        (6, 1, "inf", "Column 'height' .* holds inf in row 7"),
        (6, 1, "tall", "Column 'height' .* holds 'tall' in row 7, which is no number"),
        (6, 2, "", "label column 'kind' .* has no value in row 7"),
        (6, 3, "NA", "task column 'site' .* has no value in row 7"),
        (6, 2, "yew", "Class 'yew' has a single example"),
    ],
)
def test_bad_values_are_named(tmp_path, row, column, value, sentence):
    content = rows()
    content[row][column] = value
    with pytest.raises(InputError, match=sentence):
        Stream.from_table(write(tmp_path / "trees.csv", content), "kind", task="site", scenario="domain-incremental")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"label": "knd"}, r"trees\.csv has no column 'knd'; say which .*: width, height, kind, site"),
        ({"label": "kind", "task": "sit"}, "did you mean 'site'"),
        ({"label": "kind", "tasks": 2, "columns": ["widht"]}, "did you mean 'width'"),
        ({"label": "kind", "tasks": 2, "drop": ["width", "height", "site"]}, "no column left"),
        ({"label": "kind"}, r"Nothing says how the 3 classes .* --task-column"),
        ({"label": "kind", "task": "site", "tasks": 2}, "do not give the tasks as well"),
    ],
)
def test_bad_questions_are_answered(table, arguments, sentence):
    with pytest.raises(UsageError, match=sentence):
        Stream.from_table(table, **arguments)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"width,kind\n", "has no rows"),
        (b"", "has no rows"),
        (b"a,a,kind\n1,2,x\n", "two columns called 'a'"),
        (b"a,kind\n1,x\n1\n", "Row 2 of .* has 1 values"),
        (b"a,kind\n\xff\xfe,x\n", "cannot be read as CSV in UTF-8"),
    ],
)
def test_damaged_files_are_named(tmp_path, content, sentence):
    (tmp_path / "bad.csv").write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        Stream.from_table(tmp_path / "bad.csv", "kind", tasks=1)


def test_what_is_no_table_is_refused(tmp_path):
    with pytest.raises(UsageError, match="A list is no table"):
        Stream.from_table([1, 2], "kind")
    with pytest.raises(InputError, match="cannot be read"):
        Stream.from_table(tmp_path / "nowhere.csv", "kind")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").touch()
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MerlinError, match=r"pip install merlin-cl\[tables\]"):
        Stream.from_table(tmp_path / "t.parquet", "kind")


def test_parquet_and_data_frames_are_the_same_as_csv(tmp_path, table):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.read_csv(table)
    frame.to_parquet(tmp_path / "trees.parquet")
    streams = [Stream.from_table(one, "kind", task="site") for one in (table, frame, tmp_path / "trees.parquet")]
    assert len({stream.fingerprint for stream in streams}) == 1
    frame.loc[3, "width"] = None
    with pytest.raises(InputError, match="Column 'width' of the table has no value in row 4"):
        Stream.from_table(frame, "kind", task="site")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        Stream.from_table(tmp_path / "bad.parquet", "kind")
