"""Banks: M networks of one shape, held in one `[M, P]` tensor and trained and queried at once."""

SMALLEST_PHOTOGRAPH = 32
"""Pixels a side from which images are worth convolutions; the paper's MNIST classifier is an MLP."""


def worth_convolutions(input_shape: tuple[int, ...]) -> bool:
    """Whether inputs are images [channels, height, width] of a size that convolutions suit. Known without torch.

    >>> worth_convolutions((3, 32, 32)), worth_convolutions((1, 28, 28)), worth_convolutions((64,))
    (True, False, False)
    """
    return len(input_shape) == 3 and min(input_shape[1:]) >= SMALLEST_PHOTOGRAPH
