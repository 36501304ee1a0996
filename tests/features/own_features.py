"""Features that tests name."""

import numpy as np


def halves():
    """Inputs and their halves, side by side."""
    return lambda x: np.concatenate([x.reshape(len(x), -1), x.reshape(len(x), -1) / 2], axis=1)


def needs_an_argument(size):
    return size


def lengths():
    """Two numbers of a text: its characters and its words."""
    return lambda texts: np.array([[len(text), len(text.split())] for text in texts])
