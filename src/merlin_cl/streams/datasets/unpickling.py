"""A pickle machine that makes plain values and nothing else, in memory bounded by the length of the file.

Python's own machine calls what a file names, sets attributes on whatever it made, grows its memo to any index that a file
mentions, and lets a few bytes ask for copies of much. This one knows the steps that numbers, text, lists, tuples, dictionaries
and the arrays meant are made of; what else a file asks for is refused.
"""

import codecs
import struct
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import IO, Any, ClassVar

from merlin_cl.errors import InputError

STEPS = 500_000
"""Steps that a pickle may take, and values that it may hold; CIFAR-100, which takes most of the official ones, takes 200,000."""
COPIES = 4
"""Bytes and text made may take so many times the length of the file: once read, once as text, once as bytes again, and spare."""
DEPTH = 32
"""Containers in containers."""

REFUSED = {
    b"2": "DUP",
    b"P": "PERSID",
    b"Q": "BINPERSID",
    b"i": "INST",
    b"o": "OBJ",
    b"\x81": "NEWOBJ",
    b"\x82": "EXT1",
    b"\x83": "EXT2",
    b"\x84": "EXT4",
    b"\x8b": "LONG4",
    b"\x8f": "EMPTY_SET",
    b"\x90": "ADDITEMS",
    b"\x91": "FROZENSET",
    b"\x92": "NEWOBJ_EX",
    b"\x97": "NEXT_BUFFER",
    b"\x98": "READONLY_BUFFER",
}
"""Steps that a pickle can take and the official ones never do."""

OFFICIAL = "put the official file in its place."


class StandIn(ABC):
    """What stands in for an object that a pickle makes by a call and completes by a state."""

    @abstractmethod
    def build(self, state: Any) -> None:
        """Take over the state."""

    @abstractmethod
    def plain(self) -> Any:
        """The value meant."""

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return 0


class _Function:
    """A name that the pickle may call."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call


class Machine:
    """Runs one pickle. `admitted` are the functions that stand in for the names it may call."""

    steps_of: ClassVar[dict[bytes, Callable[["Machine"], None]]] = {}

    def __init__(self, content: IO[bytes], size: int, admitted: Mapping[tuple[str, str], Callable[..., Any]]) -> None:
        self._content = content
        self._unread = size
        self._to_make = COPIES * size
        self._entries = STEPS
        self._admitted = admitted
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []  # stacks under the marks
        self._memo: dict[int, Any] = {}

    def load(self) -> Any:
        """The value that the pickle makes, text in place of Python 2's bytes."""
        for _ in range(STEPS):
            code = self._take(1)
            if code == b".":
                return _Plain().value(self._pop())
            step = self.steps_of.get(code)
            if code in REFUSED:
                raise InputError(f"takes the step {REFUSED[code]}, which no data set needs; {OFFICIAL}")
            if step is None:
                raise ValueError(f"there is no step {code!r}")
            step(self)
        raise InputError(f"takes more than {STEPS:,} steps, which no data set needs; {OFFICIAL}")

    # What is read

    def _take(self, count: int) -> bytes:
        if not 0 <= count <= self._unread:
            raise ValueError(f"{count:,} bytes announced, {self._unread:,} there")
        taken = self._content.read(count)
        if len(taken) != count:
            raise ValueError("cut off")
        self._unread -= count
        return taken

    def _line(self) -> bytes:
        line = self._content.readline(self._unread)
        if not line.endswith(b"\n"):
            raise ValueError("cut off")
        self._unread -= len(line)
        return line[:-1]

    def _number(self, kind: str) -> Any:
        return struct.unpack(kind, self._take(struct.calcsize(kind)))[0]

    # What is made

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _push_text(self, value: bytes | bytearray | str) -> None:
        self._account(max(0, sys.getsizeof(value) - 100))
        self._stack.append(value)

    def _account(self, size: int) -> None:
        self._to_make -= size
        if self._to_make < 0:
            raise InputError(f"asks for more memory than {COPIES} times its length; {OFFICIAL}")

    def _pop(self) -> Any:
        if not self._stack:
            raise ValueError("a value is missing")
        return self._stack.pop()

    def _pop_marked(self) -> list[Any]:
        """The values since the last mark."""
        if not self._below:
            raise ValueError("a mark is missing")
        values, self._stack = self._stack, self._below.pop()
        return values

    def _pop_tuple(self, count: int) -> None:
        values = [self._pop() for _ in range(count)]
        self._push(tuple(reversed(values)))

    def _top(self, kind: type) -> Any:
        if not self._stack or type(self._stack[-1]) is not kind:
            raise ValueError(f"no {kind.__name__} to add to")
        return self._stack[-1]

    def _set_items(self, items: list[Any]) -> None:
        target = self._top(dict)
        if len(items) % 2:
            raise ValueError("a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str | bytes):  # text is hashed with a secret: no file can make keys collide
                raise InputError(f"has a dictionary with a key that is not text; {OFFICIAL}")
            target[key] = value

    def _put(self, index: int) -> None:
        if not self._stack:
            raise ValueError("nothing to remember")
        self._memo[index] = self._stack[-1]

    def _get(self, index: int) -> None:
        if index not in self._memo:
            raise ValueError("nothing was remembered there")
        self._push(self._memo[index])

    def _global(self, module: Any, name: Any) -> None:
        admitted = self._admitted.get((module, name)) if isinstance(module, str) and isinstance(name, str) else None
        if admitted is None:
            raise InputError(
                f"wants to load {_shown(module)}.{_shown(name)}, which no data set needs and which could do harm; nothing of "
                "it was run. Put the official file in its place."
            )
        self._push(_Function(admitted))

    def _reduce(self) -> None:
        arguments, function = self._pop(), self._pop()
        if not isinstance(function, _Function) or not isinstance(arguments, tuple):
            raise InputError(f"calls what is no function; {OFFICIAL}")
        made = function.call(*(one.call if isinstance(one, _Function) else one for one in arguments))
        if isinstance(made, dict):
            self._entries -= len(made)
            if self._entries < 0:
                raise InputError(f"makes dictionaries of more than {STEPS:,} entries; {OFFICIAL}")
        else:
            self._account(made.size if isinstance(made, StandIn) else len(made))
        self._push(made)

    def _build(self) -> None:
        state = self._pop()
        if not self._stack or not isinstance(self._stack[-1], StandIn):
            raise InputError(f"sets the state of something that is no array; {OFFICIAL}")
        self._stack[-1].build(state)
        self._account(self._stack[-1].size)

    # Steps that take more than an expression

    def _mark(self) -> None:
        self._below.append(self._stack)
        self._stack = []

    def _pop_or_unmark(self) -> None:
        if self._stack:
            self._stack.pop()
        else:
            self._pop_marked()

    def _integer(self) -> None:
        line = self._line()
        self._push({b"00": False, b"01": True}.get(line) if line in (b"00", b"01") else int(line))

    def _quoted(self) -> None:
        line = self._line().strip()
        if len(line) < 2 or line[:1] not in b"'\"" or line[:1] != line[-1:]:
            raise ValueError("text without quotes")
        self._push_text(codecs.escape_decode(line[1:-1])[0])

    def _dictionary(self) -> None:
        items = self._pop_marked()
        self._push({})
        self._set_items(items)

    def _extend(self) -> None:
        values = self._pop_marked()
        self._top(list).extend(values)

    def _append(self) -> None:
        value = self._pop()
        self._top(list).append(value)

    def _set_item(self) -> None:
        value, key = self._pop(), self._pop()
        self._set_items([key, value])

    def _stack_global(self) -> None:
        name, module = self._pop(), self._pop()
        self._global(module, name)


Machine.steps_of = {
    # protocol and frames say nothing that matters here
    b"\x80": lambda m: _skip(m._take(1)),
    b"\x95": lambda m: _skip(m._take(8)),
    b"(": Machine._mark,
    b"0": Machine._pop_or_unmark,
    b"1": lambda m: _skip(m._pop_marked()),
    # numbers
    b"N": lambda m: m._push(None),
    b"\x88": lambda m: m._push(True),
    b"\x89": lambda m: m._push(False),
    b"I": Machine._integer,
    b"J": lambda m: m._push(m._number("<i")),
    b"K": lambda m: m._push(m._number("B")),
    b"M": lambda m: m._push(m._number("<H")),
    b"L": lambda m: m._push(int(m._line().removesuffix(b"L"))),
    b"\x8a": lambda m: m._push(int.from_bytes(m._take(m._number("B")), "little", signed=True)),
    b"F": lambda m: m._push(float(m._line())),
    b"G": lambda m: m._push(m._number(">d")),
    # bytes and text
    b"S": Machine._quoted,
    b"T": lambda m: m._push_text(m._take(m._number("<i"))),
    b"U": lambda m: m._push_text(m._take(m._number("B"))),
    b"B": lambda m: m._push_text(m._take(m._number("<I"))),
    b"C": lambda m: m._push_text(m._take(m._number("B"))),
    b"\x8e": lambda m: m._push_text(m._take(m._number("<Q"))),
    b"\x96": lambda m: m._push_text(bytearray(m._take(m._number("<Q")))),
    b"V": lambda m: m._push_text(m._line().decode("raw-unicode-escape")),
    b"X": lambda m: m._push_text(m._take(m._number("<I")).decode("utf-8", "surrogatepass")),
    b"\x8c": lambda m: m._push_text(m._take(m._number("B")).decode("utf-8", "surrogatepass")),
    b"\x8d": lambda m: m._push_text(m._take(m._number("<Q")).decode("utf-8", "surrogatepass")),
    # containers
    b"]": lambda m: m._push([]),
    b"l": lambda m: m._push(m._pop_marked()),
    b"a": Machine._append,
    b"e": Machine._extend,
    b")": lambda m: m._push(()),
    b"t": lambda m: m._push(tuple(m._pop_marked())),
    b"\x85": lambda m: m._pop_tuple(1),
    b"\x86": lambda m: m._pop_tuple(2),
    b"\x87": lambda m: m._pop_tuple(3),
    b"}": lambda m: m._push({}),
    b"d": Machine._dictionary,
    b"s": Machine._set_item,
    b"u": lambda m: m._set_items(m._pop_marked()),
    # what is remembered
    b"p": lambda m: m._put(int(m._line())),
    b"q": lambda m: m._put(m._number("B")),
    b"r": lambda m: m._put(m._number("<I")),
    b"g": lambda m: m._get(int(m._line())),
    b"h": lambda m: m._get(m._number("B")),
    b"j": lambda m: m._get(m._number("<I")),
    b"\x94": lambda m: m._put(len(m._memo)),
    # names, calls and states
    b"c": lambda m: m._global(m._line().decode(), m._line().decode()),
    b"\x93": Machine._stack_global,
    b"R": Machine._reduce,
    b"b": Machine._build,
}


def _skip(_: object) -> None:
    """Pass over a value that was read."""


class _Plain:
    """Makes plain values of what a machine has made: each time that a value is referred to counts as one more."""

    def __init__(self) -> None:
        self._left = STEPS
        self._texts: dict[int, str] = {}

    def value(self, value: Any, depth: int = 0) -> Any:
        """The value with arrays in place of their stand-ins and text in place of bytes, container by container."""
        self._left -= 1
        if self._left < 0:
            raise InputError(f"refers to its own parts so often that it holds more than {STEPS:,} values; {OFFICIAL}")
        if depth > DEPTH:
            raise InputError(f"holds containers more than {DEPTH} deep; {OFFICIAL}")
        if isinstance(value, StandIn):
            return value.plain()
        if isinstance(value, dict):
            return {self.value(key): self.value(one, depth + 1) for key, one in value.items()}
        if isinstance(value, list):
            return [self.value(one, depth + 1) for one in value]
        if isinstance(value, tuple):
            return tuple([self.value(one, depth + 1) for one in value])
        if isinstance(value, bytes):
            if id(value) not in self._texts:
                self._texts[id(value)] = value.decode("latin-1")
            return self._texts[id(value)]
        if isinstance(value, _Function):
            raise InputError(f"holds a function instead of data; {OFFICIAL}")
        return value


def _shown(name: Any) -> str:
    """What a file says, fit for a sentence: short, nothing that a terminal would obey."""
    text = name.decode("latin-1") if isinstance(name, bytes | bytearray) else str(name)[:200]
    return (text if len(text) <= 60 else f"{text[:57]}...").encode("unicode-escape").decode("ascii")
