"""Rows of numbers with a label, from a file or a data frame."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from merlin_cl.errors import InputError, UsageError, unknown
from merlin_cl.inputs.encoding import TableEncoding
from merlin_cl.inputs.tables import Table, read_table
from merlin_cl.streams.settings.user_data import TableSettings
from merlin_cl.streams.user_data.examples import Examples, OwnData


def read(settings: TableSettings, path: Path) -> OwnData:
    """The table in a file."""
    return from_tables(settings, read_table(path))


def from_tables(settings: TableSettings, table: Table, test: Table | None = None) -> OwnData:
    """Own data from a table, and perhaps one to test on."""
    if not len(table):
        raise InputError(f"{table.place} has no rows; give a header and a row for each example.")
    if settings.part_column:
        if test is not None:
            raise UsageError(
                f"A test table and the column {settings.part_column!r} both say what to test on; give one."
            )
        table, test = _parts(table, settings.part_column)
    if settings.label not in table.columns:
        raise UsageError(
            f"{table.place} has no column {settings.label!r}; say which of its columns holds the class (label, or --label NAME): "
            f"{', '.join(table.columns)}."
        )
    special = [name for name in (settings.label, settings.task_column, settings.part_column) if name]
    if settings.text:
        return _of_texts(settings, table, test, special)
    for name in (*special, *settings.columns, *settings.drop):
        table.column(name)
    columns = [name for name in settings.columns or table.columns if name not in (*special, *settings.drop)]
    if not columns:
        raise UsageError(f"{table.place} has no column left to learn from beside {', '.join(special)}.")
    encoding = _encoding(settings, table, columns)
    return OwnData(
        table.place,
        (len(columns) if encoding is None else encoding.width,),
        _examples(settings, table, columns, encoding),
        None if test is None else _examples(settings, test, columns, encoding),
        settings.standardise,
        tuple(columns),
        encoding,
        settings.missing == "mean",
        tasks_from="a column that holds the task (task, or --task-column NAME)",
    )


def _encoding(settings: TableSettings, table: Table, columns: list[str]) -> TableEncoding | None:
    """How columns of categories become numbers: by the categories of the training rows, if there are such columns."""
    for name in settings.categories:
        if name not in columns:
            raise unknown("column to learn from", name, columns)
    if not settings.categories:
        return None
    chosen = Table(table.place, {name: table.column(name) for name in columns}, table.chosen)
    return TableEncoding.settled_by(chosen, settings.categories)


def _of_texts(settings: TableSettings, table: Table, test: Table | None, special: list[str]) -> OwnData:
    """Own data from a column of texts; other columns are left out."""
    if settings.columns or settings.text in special:
        other = settings.columns[0] if settings.columns else settings.text
        raise UsageError(
            f"text is the column {settings.text!r}, and {other!r} is to be learned from as well or has another use; a column of "
            "texts is learned from alone."
        )
    for name in (*special, settings.text):
        table.column(name)
    return OwnData(
        table.place,
        (),
        _examples(settings, table, [settings.text]),
        None if test is None else _examples(settings, test, [settings.text]),
        settings.standardise,
        (settings.text,),
        tasks_from="a column that holds the task (task, or --task-column NAME)",
    )


def _examples(
    settings: TableSettings, table: Table, columns: list[str], encoding: TableEncoding | None = None
) -> Examples:
    def inputs() -> Tensor | list[str]:
        if settings.text:
            return table.texts(settings.text)
        fill = settings.missing == "mean"
        if encoding is not None:
            return torch.from_numpy(encoding.rows(table, fill)).float()
        numbers = [table.numbers(name, missing=fill) for name in columns]
        return torch.from_numpy(np.stack(numbers, axis=1)).float()

    return Examples(
        table.names(settings.label, "label"),
        table.names(settings.task_column, "task") if settings.task_column else None,
        inputs,
        lambda at: f"{table.row(at)} of {table.place}",
    )


def _parts(table: Table, column: str) -> tuple[Table, Table]:
    """Training and test rows by the column that says which is which."""
    rows: dict[str, list[int]] = {"train": [], "test": []}
    for row, part in enumerate(table.names(column, "part")):
        if part not in rows:
            raise InputError(
                f"Column {column!r} of {table.place} holds {part!r} in row {row + 1}; it must say `train` or `test`."
            )
        rows[part].append(row)
    for part, chosen in rows.items():
        if not chosen:
            raise InputError(f"Column {column!r} of {table.place} says {part!r} of no row.")
    return table.rows(rows["train"]), table.rows(rows["test"])
