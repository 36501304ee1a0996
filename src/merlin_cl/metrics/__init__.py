"""What is measured of a run, as pure functions: of its accuracies (`accuracy`), over seeds (`seeds`), and of the probabilities it
gave (`uncertainty`, apart because it needs numpy, which most commands never import)."""

from merlin_cl.metrics.accuracy import (
    BOUNDS,
    METRICS,
    Matrix,
    average_incremental_accuracy,
    backward_transfer,
    final_accuracy,
    forgetting,
    forgetting_by_task,
    learning_curve,
)
from merlin_cl.metrics.seeds import (
    CONFIDENCE,
    ENOUGH_SEEDS,
    Comparison,
    half_width,
    holm,
    interval,
    mcnemar,
    mean,
    paired,
    standard_deviation,
)

__all__ = [
    "BOUNDS",
    "CONFIDENCE",
    "ENOUGH_SEEDS",
    "METRICS",
    "Comparison",
    "Matrix",
    "average_incremental_accuracy",
    "backward_transfer",
    "final_accuracy",
    "forgetting",
    "forgetting_by_task",
    "half_width",
    "holm",
    "interval",
    "learning_curve",
    "mcnemar",
    "mean",
    "paired",
    "standard_deviation",
]
