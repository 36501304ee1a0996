"""A terminal, as far as recordings need one: what was written becomes a screen of styled characters."""

import colorsys
import re
from dataclasses import dataclass, replace
from typing import NamedTuple

SEQUENCE = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>()][\dAB]?")
NAMES = ("ink", "bad", "leaf", "keep", "stream", "merlin", "stream", "ink")
"""Our colours for a terminal's eight."""


@dataclass(frozen=True)
class Style:
    """How a character is written."""

    colour: str = "ink"
    bold: bool = False
    dim: bool = False


class Run(NamedTuple):
    """Characters of one style, from a column on."""

    column: int
    text: str
    style: Style


Line = tuple[Run, ...]


class Screen:
    """What a terminal shows; it grows at its end instead of scrolling."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.cells: list[dict[int, tuple[str, Style]]] = [{}]
        self.row = self.column = 0
        self.style = Style()

    def write(self, data: str) -> None:
        """Take in what was written."""
        at = 0
        while at < len(data):
            sequence = SEQUENCE.match(data, at)
            if sequence:
                if sequence[2]:
                    self._obey(sequence[2], sequence[1])
                at = sequence.end()
            else:
                self._put(data[at])
                at += 1

    def lines(self) -> list[Line]:
        """Return all lines; spaces at the end of a line are not among them."""
        return [_runs(cells) for cells in self.cells]

    def _put(self, sign: str) -> None:
        if sign == "\n":
            self._move(self.row + 1, self.column)
        elif sign == "\r":
            self.column = 0
        elif sign == "\b":
            self.column = max(0, self.column - 1)
        elif sign >= " ":
            if self.column >= self.columns:  # the line goes on below
                self._move(self.row + 1, 0)
            self.cells[self.row][self.column] = (sign, self.style)
            self.column += 1

    def _move(self, row: int, column: int) -> None:
        self.row, self.column = max(0, row), max(0, column)
        self.cells += [{} for _ in range(self.row + 1 - len(self.cells))]

    def _obey(self, letter: str, parameters: str) -> None:
        numbers = [int(part or 0) for part in parameters.lstrip("?").split(";")] if parameters.strip("?") else []
        count = max(1, numbers[0]) if numbers else 1
        moves = {"A": (-count, 0), "B": (count, 0), "C": (0, count), "D": (0, -count)}
        if letter in moves:
            self._move(self.row + moves[letter][0], self.column + moves[letter][1])
        elif letter == "G":
            self.column = count - 1
        elif letter == "K":
            self._erase(numbers[0] if numbers else 0)
        elif letter == "J":
            self._erase(numbers[0] if numbers else 0)
            self.cells[self.row + 1 :] = []
        elif letter == "m":
            self._set(numbers or [0])

    def _erase(self, which: int) -> None:
        kept = {0: lambda at: at < self.column, 1: lambda at: at > self.column, 2: lambda at: False}[min(which, 2)]
        self.cells[self.row] = {at: cell for at, cell in self.cells[self.row].items() if kept(at)}

    def _set(self, codes: list[int]) -> None:
        codes = [*codes]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.style = Style()
            elif code in (1, 2):
                self.style = replace(self.style, bold=code == 1 or self.style.bold, dim=code == 2 or self.style.dim)
            elif code == 22:
                self.style = replace(self.style, bold=False, dim=False)
            elif code == 39:
                self.style = replace(self.style, colour="ink")
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.style = replace(self.style, colour="dim" if code == 90 else NAMES[code % 10])
            elif code in (38, 48):
                colour = _named(codes)
                self.style = replace(self.style, colour=colour) if code == 38 else self.style


def _named(codes: list[int]) -> str:
    """Return our colour for one of 256 or of sixteen million, whose codes are taken away."""
    if codes[:1] == [5]:
        number = codes[1]
        del codes[:2]
        if number < 16:
            return "dim" if number == 8 else NAMES[number % 8]
        if number >= 232:
            return _nearest(*[8 + 10 * (number - 232)] * 3)
        number -= 16
        return _nearest(*(0 if part == 0 else 55 + 40 * part for part in (number // 36, number // 6 % 6, number % 6)))
    red, green, blue = codes[1:4]
    del codes[:4]
    return _nearest(red, green, blue)


def _nearest(red: int, green: int, blue: int) -> str:
    hue, light, strength = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)
    if strength < 0.2:
        return "line" if light < 0.35 else "dim" if light < 0.75 else "ink"
    bounds = ((0.04, "bad"), (0.2, "keep"), (0.42, "leaf"), (0.66, "stream"), (0.95, "merlin"), (1.01, "bad"))
    return next(name for bound, name in bounds if hue < bound)


def _runs(cells: dict[int, tuple[str, Style]]) -> Line:
    """Return a line's characters, those of one style together."""
    runs: list[Run] = []
    for column in range(max((at for at, (sign, _) in cells.items() if sign != " "), default=-1) + 1):
        sign, style = cells.get(column, (" ", Style()))
        last = runs[-1] if runs else None
        if last and (last.style == style or sign == " "):
            runs[-1] = last._replace(text=last.text + sign)
        elif sign != " " or last:
            runs.append(Run(column, sign, style))
    return tuple(runs)
