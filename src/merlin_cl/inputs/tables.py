"""Tables: CSV with Python's own reader, Parquet with pyarrow, or a data frame."""

import csv
import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from merlin_cl.errors import InputError, MerlinError, UsageError, unknown
from merlin_cl.inputs.labels import name_of, names_of

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
        values = [None if is_missing(value) else value for value in self.column(name)]
        return names_of(
            values,
            lambda at: (
                f"The {what} column {name!r} of {self.place} has no value in {self.row(at)}; fill it in or "
                "leave the row out."
            ),
        )

    def numbers(self, name: str, missing: bool = False) -> np.ndarray[Any, np.dtype[np.float64]]:
        """A column of numbers; where some may be `missing`, NaN stands for these."""
        values = self.column(name)
        if missing:
            values = [math.nan if is_missing(value) else value for value in values]
        try:
            numbers = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.array([self._number(name, at, value, missing) for at, value in enumerate(values)])
        if numbers.ndim != 1:
            raise InputError(f"Column {name!r} of {self.place} holds lists; give one number in each row.")
        strange = np.flatnonzero(np.isinf(numbers) if missing else ~np.isfinite(numbers))
        if len(strange):
            self._number(name, int(strange[0]), numbers[strange[0]])
        return numbers

    def texts(self, name: str) -> list[str]:
        """A column of texts, none of which may be missing; an empty one, in a file, is missing."""
        values = self.column(name)
        for at, value in enumerate(values):
            if not isinstance(value, str) or not value.strip():
                raise InputError(
                    f"Column {name!r} of {self.place} holds {value!r} in {self.row(at)}, which is no text; fill it in or "
                    "leave the row out."
                )
        return list(values)

    def rows(self, chosen: Sequence[int]) -> "Table":
        """Some of the rows."""
        columns = {name: [values[row] for row in chosen] for name, values in self.columns.items()}
        return Table(self.place, columns, chosen)

    def _number(self, name: str, at: int, value: Any, missing: bool = False) -> float:
        where = f"Column {name!r} of {self.place}"
        if is_missing(value):
            if missing:
                return math.nan
            raise InputError(
                f"{where} has no value in {self.row(at)}; fill it in, set missing to mean, or leave out the row or the column "
                "(drop)."
            )
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"{where} holds {str(value)!r} in {self.row(at)}, which is no number; leave the column out (drop), or name "
                "it among categories."
            ) from None
        if not math.isfinite(number):
            raise InputError(f"{where} holds {number} in {self.row(at)}; give finite numbers.")
        return number


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
    require_distinct(map(str, frame.columns), "The table")
    columns = {str(name): frame[name] for name in frame.columns}
    return Table("the table", {name: list(values) for name, values in columns.items()})


def require_distinct(names: Iterable[str], place: str) -> None:
    """Refuse a table with two columns of one name."""
    met: set[str] = set()
    for name in names:
        if name in met:
            raise InputError(f"{place} has two columns called {name!r}; give each a name of its own.")
        met.add(name)


def _csv(path: Path) -> dict[str, Sequence[Any]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            first = file.readline()
            separator = max("\t" if path.suffix.lower() == ".tsv" else ",", ";", "\t", key=first.count)
            header = [name.strip() for name in next(csv.reader([first], delimiter=separator), [])]
            require_distinct(header, str(path))
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


def is_missing(value: Any) -> bool:
    """Whether a value of a table stands for none."""
    return value.strip().casefold() in MISSING if isinstance(value, str) else name_of(value) is None
