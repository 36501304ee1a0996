"""Whether a figure of the paper was reached: a rule that is the same for all."""

from typing import Literal

from merlin_cl.paper.published import Published

Judgement = Literal["reproduced", "exceeded", "not reached"]


def margin(half_width: float | None, paper: Published) -> float:
    """How far figures may be apart and still count as the same: the paper's ± or half of our 95 % interval, whichever is more.

    >>> margin(0.2, Published(90.7, 0.8, "Table 1")), margin(None, Published(90.7, None, "Table 1"))
    (0.8, 0.0)
    """
    return max(paper.std or 0.0, half_width or 0.0)


def verdict(mean: float, half_width: float | None, paper: Published, *, lower_is_better: bool = False) -> Judgement:
    """What to call a mean of ours beside the paper's: an accuracy, or something of which less is better, such as forgetting.

    >>> paper = Published(90.7, 0.8, "Table 1")
    >>> [verdict(mean, 0.1, paper) for mean in (93.5, 90.0, 87.5)]
    ['exceeded', 'reproduced', 'not reached']
    >>> verdict(15.4, None, Published(6.4, 1.2, "Table 1"), lower_is_better=True)
    'not reached'
    """
    difference = mean - paper.mean
    if abs(difference) <= margin(half_width, paper):
        return "reproduced"
    return "exceeded" if (difference > 0) != lower_is_better else "not reached"


def reason(mean: float, half_width: float | None, paper: Published) -> str:
    """Why it is called so, in figures.

    >>> paper = Published(90.7, 0.8, "Table 1")
    >>> reason(90.0, 0.1, paper), reason(87.5, 0.1, paper)
    ('within 0.80', 'by 3.20, more than 0.80')
    """
    difference, allowed = abs(mean - paper.mean), margin(half_width, paper)
    return f"within {allowed:.2f}" if difference <= allowed else f"by {difference:.2f}, more than {allowed:.2f}"
