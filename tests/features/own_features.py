"""Features that tests name."""

import itertools

import numpy as np

ALPHABET = " abcdefghijklmnopqrstuvwxyz"


def halves():
    """Inputs and their halves, side by side."""
    return lambda x: np.concatenate([x.reshape(len(x), -1), x.reshape(len(x), -1) / 2], axis=1)


def needs_an_argument(size):
    return size


def lengths():
    """Two numbers of a text: its characters and its words."""
    return lambda texts: np.array([[len(text), len(text.split())] for text in texts])


def letters():
    """How often a text has each pair of neighbouring letters."""
    places = {first + second: at for at, (first, second) in enumerate(itertools.product(ALPHABET, repeat=2))}

    def counted(texts):
        counts = np.zeros((len(texts), len(places)))
        for row, text in zip(counts, texts, strict=True):
            for first, second in itertools.pairwise(text.lower()):
                row[places.get(first + second, 0)] += 1
        return counts

    return counted
