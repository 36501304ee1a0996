"""Moving and mirroring pictures as machine code: a number is read where it was and written where it goes."""

from typing import Any

import numpy as np

from merlin_cl.networks.machine_code import compiled


@compiled
def move(moved: Any, pictures: Any, down: Any, right: Any, mirrored: Any) -> None:
    """pictures [n, C, H, W] as seen so many pixels further down and to the right, edges repeated, then mirrored if it says so."""
    count, channels, height, width = pictures.shape
    # Where each column is taken from; unsigned, as negative places would count from the end.
    columns = np.empty(width, np.uint32)
    for n in range(count):
        for column in range(width):
            place = (width - 1 - column if mirrored[n] else column) + right[n]
            columns[column] = min(max(place, 0), width - 1)
        for channel in range(channels):
            for row in range(height):
                line = pictures[n, channel, min(max(row + down[n], 0), height - 1)]
                to = moved[n, channel, row]
                for column in range(width):
                    to[column] = line[columns[column]]
