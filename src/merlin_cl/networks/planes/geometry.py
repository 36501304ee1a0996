"""Where a convolution's terms lie in the arrays of planes: tables that depend on shapes alone."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merlin_cl.networks.planes.vectors import MARGIN

Table = NDArray[np.int64]
MARGIN_NUMBERS = MARGIN // 4


class Phase(NamedTuple):
    """Of the gradient by the input of a convolution with a stride of two: the pixels of even or odd rows and columns."""

    offsets: Table
    weights: Table  # places, [terms, inputs], in the kernel and that of the shortcut behind it
    rows: int
    length: int  # of a row, in numbers


class Geometry:
    """A convolution of N images [inputs, height, width] with a kernel of 3x3 or 1x1 and a stride of 1 or 2.

    Sizes are counts of numbers. A row of a plane without borders is `length`, of one with borders `row`.
    """

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int, height: int, width: int, count: int
    ) -> None:
        self.inputs, self.outputs, self.count = inputs, outputs, count
        self.in_height, self.in_width = height, width
        self.height, self.width = (height + stride - 1) // stride, (width + stride - 1) // stride
        self.pixels = self.height * self.width
        self.length, self.row = self.width * count, (self.width + 2) * count
        self.plane = self.height * self.length + MARGIN_NUMBERS
        self.bordered_plane = (self.height + 2) * self.row
        self.in_length = width * count
        self.in_plane = height * self.in_length + MARGIN_NUMBERS
        if stride == 1:
            in_row = self.x_row = (width + 2) * count
            columns = [0, count, 2 * count]
        else:  # of an input whose columns are split: a row's even ones, one more than there are outputs, then its odd ones
            in_row = (2 * self.width + 1) * count
            self.x_row = 2 * in_row
            columns = [0, (self.width + 1) * count, count]
        self.x_size = inputs * (height + 2) * in_row
        taps = [0, 1, 2] if kernel == 3 else [1]
        self.offsets = _table(
            c * (height + 2) * in_row + i * in_row + columns[j] for c in range(inputs) for i in taps for j in taps
        )
        places = np.arange(inputs * kernel**2 * outputs).reshape(inputs, kernel, kernel, outputs)
        if stride == 1:
            self.turned = places.transpose(3, 1, 2, 0)[
                :, ::-1, ::-1
            ].flatten()  # the kernel of the gradient by the input
            self.turned_offsets = _table(
                c * self.bordered_plane + i * self.row + j * count for c in range(outputs) for i in taps for j in taps
            )
        self.phases = [self._phase(places, a, b) for a in (0, 1) for b in (0, 1)] if stride == 2 and kernel == 3 else []
        self.phase_plane = self.height * self.length + MARGIN_NUMBERS

    def _phase(self, places: Table, odd_row: int, odd_column: int) -> Phase:
        """An even row or column meets the kernel's middle; an odd one its end, from before, and its beginning, from behind.

        Behind the gradient by the output comes the one by the shortcut's output; the shortcut meets even pixels alone.
        """
        rows, columns = ([(0, 2), (2, 1)] if odd else [(1, 1)] for odd in (odd_row, odd_column))
        terms = [
            (c * self.bordered_plane + i * self.row + j * self.count, places[:, y, x, c])
            for c in range(self.outputs)
            for y, i in rows
            for x, j in columns
        ]
        if not odd_row and not odd_column:
            behind = places.size + np.arange(self.inputs * self.outputs).reshape(self.inputs, self.outputs)
            terms += [
                ((self.outputs + c) * self.bordered_plane + self.row + self.count, behind[:, c])
                for c in range(self.outputs)
            ]
        return Phase(
            _table(offset for offset, _ in terms),
            np.concatenate([weights for _, weights in terms]),
            (self.in_height + 1 - odd_row) // 2,
            (self.in_width + 1 - odd_column) // 2 * self.count,
        )


geometry = lru_cache(maxsize=1024)(Geometry)


def _table(offsets: Any) -> Table:
    return np.fromiter(offsets, np.int64)
