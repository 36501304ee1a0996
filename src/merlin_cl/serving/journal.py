"""All that a service was ever told, in order, on disk before it is acknowledged: SQLite's log, synced with every entry.

The number of an entry is that of the version of the model that has learned it: version n is the model after the first n entries,
and a kill at any moment leaves a version that was saved and the entries after it, which are learned again, in the same lessons,
to the same bits. Several threads may use a journal; no two processes may.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from merlin_cl.errors import MerlinError, UsageError

Array = np.ndarray[Any, Any]
Kind = Literal["learn", "rollback"]
State = Literal["waiting", "learned", "refused"]

FORMAT = "1"
REMEMBERED = 1_000_000
"""Requests whose identity is kept, so that one sent again is known; a few hundred bytes on disk each."""
TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    digest BLOB NOT NULL,
    content TEXT NOT NULL,
    inputs BLOB,
    count INTEGER NOT NULL,
    lesson INTEGER,
    refusal TEXT,
    answered_right INTEGER,
    covered INTEGER
);
CREATE TABLE IF NOT EXISTS versions (number INTEGER PRIMARY KEY, knows TEXT NOT NULL);
"""


class ConflictError(MerlinError):
    """A request that has the identity of another one."""


class StorageError(MerlinError):
    """A disk that does not take what has to be on it."""


@dataclass(frozen=True)
class Request:
    """Something that changes the model, as it is kept: examples to learn, or a version to go back to."""

    kind: Kind
    inputs: Array | None = None
    """[N, *input_shape], bytes or floats of 64 bits."""
    labels: tuple[Any, ...] = ()
    task: str | int | None = None
    end_task: bool = False
    """Whether the task is over after these examples."""
    version: int | None = None

    @property
    def content(self) -> str:
        """All but the inputs, as JSON."""
        form = None if self.inputs is None else [self.inputs.dtype.str, list(self.inputs.shape)]
        return json.dumps([self.kind, form, list(self.labels), self.task, self.end_task, self.version])

    @property
    def digest(self) -> bytes:
        """What tells this request from every other."""
        return hashlib.sha256(self.content.encode() + (self.raw or b"")).digest()

    @property
    def raw(self) -> bytes | None:
        """The inputs as bytes."""
        return None if self.inputs is None else np.ascontiguousarray(self.inputs).tobytes()

    @classmethod
    def read(cls, content: str, raw: bytes | None) -> Request:
        """The request that was kept so."""
        kind, form, labels, task, end_task, version = json.loads(content)
        inputs = None if form is None or raw is None else np.frombuffer(raw, dtype=form[0]).reshape(form[1])
        return cls(kind, inputs, tuple(labels), task, end_task, version)


@dataclass(frozen=True)
class JournalEntry:
    """A request in its place."""

    number: int
    id: str
    request: Request
    lesson: int | None
    """The number of the first entry that was learned together with it; None: it has not been learned yet."""
    refusal: str | None
    """Why it was not learned, if it was not."""


@dataclass(frozen=True)
class EntryOutcome:
    """What became of an entry when it was learned."""

    number: int
    lesson: int
    examples: int
    refusal: str | None = None
    answered_right: int | None = None
    """How many of its examples the model answered right before it learned them."""
    covered: int | None = None
    """How many of their labels were in the model's sets of labels then, where it has held examples back."""
    again: bool = False
    """Whether it was learned before and had to be again, after a kill."""


@dataclass(frozen=True)
class Acknowledgement:
    """An entry is on disk; `again`: it was there before."""

    number: int
    again: bool


class Journal:
    """The entries of one service."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        try:
            self._base = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
            self._base.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")  # every commit is on disk before it returns
            self._base.executescript(f"BEGIN IMMEDIATE; {TABLES} COMMIT;")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise UsageError(
                    f"{path.parent} is in use by another service; stop that one, or choose another folder with --state."
                ) from None
            raise StorageError(f"Cannot write {path} ({error}); choose another folder with --state.") from None
        except sqlite3.DatabaseError as error:
            raise MerlinError(
                f"{path} is no journal of a service, or a damaged one ({error}); restore it, or choose another folder with "
                "--state."
            ) from None
        if self.about("format", FORMAT) != FORMAT:
            raise MerlinError(f"{path} was written by a newer merlin-cl; upgrade merlin-cl to use it.")

    def close(self) -> None:
        """Let others use it."""
        with self._lock:
            self._base.close()

    def about(self, name: str, at_first: str) -> str:
        """What is noted under a name; the first call settles it."""
        with self._changing() as base:
            base.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", (name, at_first))
            (value,) = base.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return str(value)

    # Entries

    def append(self, id: str, request: Request) -> Acknowledgement:
        """Write a request down, synced to disk, once: the same request under the same id is the same entry."""
        with self._changing() as base:
            known = base.execute("SELECT number, digest FROM entries WHERE id = ?", (id,)).fetchone()
            if known is not None:
                if known[1] != request.digest:
                    raise ConflictError(
                        f"The id {id!r} belongs to another request, number {known[0]}; give every request an id of its own."
                    )
                return Acknowledgement(known[0], again=True)
            values = (id, request.digest, request.content, request.raw, len(request.labels))
            number = base.execute(
                "INSERT INTO entries (number, id, digest, content, inputs, count) VALUES "
                "((SELECT coalesce(max(number), 0) + 1 FROM entries), ?, ?, ?, ?, ?)",
                values,
            ).lastrowid
            assert number is not None
            base.execute("DELETE FROM entries WHERE number <= ? AND inputs IS NULL", (number - REMEMBERED,))
        return Acknowledgement(number, again=False)

    def after(self, number: int, examples: int) -> list[JournalEntry]:
        """Entries that follow one, until they have so many examples together; what was learned together is not cut in two."""
        entries: list[JournalEntry] = []
        with self._reading() as base:
            for at, id, content, raw, count, lesson, refusal in base.execute(
                "SELECT number, id, content, inputs, count, lesson, refusal FROM entries WHERE number > ? ORDER BY number",
                (number,),
            ):
                if examples <= 0 and (lesson is None or lesson != entries[-1].lesson):
                    break
                entries.append(JournalEntry(at, id, Request.read(content, raw), lesson, refusal))
                examples -= max(count, 1)
        return entries

    def state_of(self, id: str) -> tuple[int, State, str | None] | None:
        """The number of a request, what became of it, and why; None where no such request is known."""
        with self._reading() as base:
            row = base.execute("SELECT number, lesson, refusal FROM entries WHERE id = ?", (id,)).fetchone()
        if row is None:
            return None
        number, lesson, refusal = row
        return number, "waiting" if lesson is None else "learned" if refusal is None else "refused", refusal

    def waiting(self, after: int) -> int:
        """Examples in entries after one."""
        with self._reading() as base:
            (count,) = base.execute("SELECT coalesce(sum(count), 0) FROM entries WHERE number > ?", (after,)).fetchone()
        return int(count)

    def last(self) -> int:
        """The number of the last entry; 0 where there is none."""
        with self._reading() as base:
            (number,) = base.execute("SELECT coalesce(max(number), 0) FROM entries").fetchone()
        return int(number)

    def note(self, outcomes: Iterable[EntryOutcome]) -> None:
        """Write down what became of entries. How they were answered is kept as it was at first: learning again, after a kill,
        asks a model that has learned less or more."""
        rows = [(each.lesson, each.refusal, each.answered_right, each.covered, each.number) for each in outcomes]
        with self._changing() as base:
            base.executemany(
                "UPDATE entries SET lesson = ?, refusal = ?, answered_right = coalesce(answered_right, ?), "
                "covered = coalesce(covered, ?) WHERE number = ?",
                rows,
            )

    def answered(self, examples: int) -> list[tuple[int, int, int | None]]:
        """Examples, right answers and covered labels of the last entries that were answered before they were learned, oldest
        first; as many as have `examples` together."""
        rows: list[tuple[int, int, int | None]] = []
        with self._reading() as base:
            for count, right, covered in base.execute(
                "SELECT count, answered_right, covered FROM entries WHERE answered_right IS NOT NULL ORDER BY number DESC"
            ):
                rows.append((count, right, covered))
                examples -= count
                if examples <= 0:
                    break
        return rows[::-1]

    # Versions

    def versions(self) -> dict[int, Any]:
        """All versions that are saved, oldest first, and what each knows."""
        with self._reading() as base:
            rows = base.execute("SELECT number, knows FROM versions ORDER BY number").fetchall()
        return {number: json.loads(knows) for number, knows in rows}

    def add_version(self, number: int, knows: Any, keep: int) -> Sequence[int]:
        """Note that a version is saved, and forget all but the last `keep`; those forgotten are given back. The inputs of entries
        that no version needs any more go, too. Versions that waiting requests go back to are kept."""
        with self._changing() as base:
            base.execute("INSERT OR IGNORE INTO versions VALUES (?, ?)", (number, json.dumps(knows)))
            saved = [version for (version,) in base.execute("SELECT number FROM versions ORDER BY number")]
            waiting = base.execute("SELECT content FROM entries WHERE number > ? AND inputs IS NULL", (number,))
            needed = {Request.read(content, None).version for (content,) in waiting}
            gone = [version for version in saved[:-keep] if version not in needed]
            base.executemany("DELETE FROM versions WHERE number = ?", [(version,) for version in gone])
            oldest = min(set(saved) - set(gone))
            base.execute("UPDATE entries SET inputs = NULL WHERE number <= ? AND inputs IS NOT NULL", (oldest,))
        return gone

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, and on disk when it is over."""
        with self._lock:
            try:
                self._base.execute("BEGIN IMMEDIATE")
                try:
                    yield self._base
                    self._base.execute("COMMIT")
                except BaseException:
                    if self._base.in_transaction:
                        self._base.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise StorageError(
                    f"{self._path} cannot be written ({error}); nothing of this request was kept: make room on the disk."
                ) from None

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._base
            except sqlite3.Error as error:
                raise StorageError(f"{self._path} cannot be read ({error}); see to the disk.") from None
