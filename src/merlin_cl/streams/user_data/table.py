"""Rows of numbers with a label: CSV with Python's own reader, Parquet with pyarrow, or a data frame."""

import csv
import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from merlin_cl.errors import InputError, MerlinError, UsageError, unknown
from merlin_cl.streams.settings.user_data import TableSettings
from merlin_cl.streams.user_data.examples import Examples, OwnData, name_of, names_of

MISSING = {"", "na", "n/a", "nan", "null", "none", "<na>"}
"""What stands for no value in a CSV file."""


@dataclass(frozen=True)
class Table:
    """Columns by name, each with a value for every row."""

    place: str
    columns: Mapping[str, Sequence[Any]]
    chosen: Sequence[int] | None = None
    """Which rows of the whole table these are, where not all."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def row(self, at: int) -> str:
        """What to call a row in a message; the one below the header is the first."""
        return f"row {1 + (at if self.chosen is None else self.chosen[at])}"

    def column(self, name: str) -> Sequence[Any]:
        """A column, which must be there."""
        if name not in self.columns:
            raise unknown(f"column of {self.place}", name, self.columns)
        return self.columns[name]

    def names(self, name: str, what: str) -> list[str]:
        """A column of labels, tasks or parts as text."""
        values = [None if _is_missing(value) else value for value in self.column(name)]
        return names_of(
            values,
            lambda at: (
                f"The {what} column {name!r} of {self.place} has no value in {self.row(at)}; fill it in or "
                "leave the row out."
            ),
        )

    def numbers(self, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """A column of numbers, none of which may be missing."""
        values = self.column(name)
        try:
            numbers = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.array([self._number(name, at, value) for at, value in enumerate(values)])
        if numbers.ndim != 1:
            raise InputError(f"Column {name!r} of {self.place} holds lists; give one number in each row.")
        strange = np.flatnonzero(~np.isfinite(numbers))
        if len(strange):
            self._number(name, int(strange[0]), numbers[strange[0]])
        return numbers

    def rows(self, chosen: Sequence[int]) -> "Table":
        """Some of the rows."""
        columns = {name: [values[row] for row in chosen] for name, values in self.columns.items()}
        return Table(self.place, columns, chosen)

    def _number(self, name: str, at: int, value: Any) -> float:
        where = f"Column {name!r} of {self.place}"
        if _is_missing(value):
            raise InputError(
                f"{where} has no value in {self.row(at)}; fill it in, or leave out the row or the column (drop)."
            )
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"{where} holds {str(value)!r} in {self.row(at)}, which is no number; leave the column out (drop) or encode it "
                "as numbers."
            ) from None
        if not math.isfinite(number):
            raise InputError(f"{where} holds {number} in {self.row(at)}; give finite numbers.")
        return number


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
    for name in (*special, *settings.columns, *settings.drop):
        table.column(name)
    columns = [name for name in settings.columns or table.columns if name not in (*special, *settings.drop)]
    if not columns:
        raise UsageError(f"{table.place} has no column left to learn from beside {', '.join(special)}.")
    return OwnData(
        table.place,
        (len(columns),),
        _examples(settings, table, columns),
        None if test is None else _examples(settings, test, columns),
        settings.standardise,
        tuple(columns),
        tasks_from="a column that holds the task (task, or --task-column NAME)",
    )


def _examples(settings: TableSettings, table: Table, columns: list[str]) -> Examples:
    def inputs() -> Tensor:
        numbers = [table.numbers(name) for name in columns]
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


def read_table(path: Path) -> Table:
    """The table in a CSV or Parquet file."""
    reader = _parquet if path.suffix.lower() in (".parquet", ".pq") else _csv
    try:
        return Table(str(path), reader(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}); check that it is a table.") from error


def from_frame(frame: Any) -> Table:
    """A data frame of pandas, or anything else that has `columns` and gives them by name."""
    if not hasattr(frame, "columns"):
        raise UsageError(
            f"A {type(frame).__name__} is no table; give the path of a CSV or Parquet file, or a data frame."
        )
    columns = {str(name): frame[name] for name in frame.columns}
    return Table("the table", {name: list(values) for name, values in columns.items()})


def _csv(path: Path) -> dict[str, Sequence[Any]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            first = file.readline()
            separator = max("\t" if path.suffix.lower() == ".tsv" else ",", ";", "\t", key=first.count)
            header = [name.strip() for name in next(csv.reader([first], delimiter=separator), [])]
            for place, name in enumerate(header):
                if name in header[:place]:
                    raise InputError(f"{path} has two columns called {name!r}; give each a name of its own.")
            rows = []
            for row in csv.reader(file, delimiter=separator, strict=True):
                if not row:
                    continue
                rows.append(row)
                if len(row) != len(header):
                    raise InputError(
                        f"Row {len(rows)} of {path} has {len(row)} values, but there are {len(header)} columns; mend it."
                    )
        except (csv.Error, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be read as CSV in UTF-8 ({error}); save it again.") from error
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=False)) or {name: [] for name in header}


def _parquet(path: Path) -> dict[str, Sequence[Any]]:
    try:
        pyarrow, parquet = (importlib.import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
    except ImportError:
        raise MerlinError(
            "Parquet files are read with pyarrow, which is not installed; `pip install merlin-cl[tables]` brings it."
        ) from None
    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowInvalid as error:
        raise InputError(f"{path} cannot be read as Parquet ({error}); save it again.") from error
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _is_missing(value: Any) -> bool:
    return value.strip().casefold() in MISSING if isinstance(value, str) else name_of(value) is None
