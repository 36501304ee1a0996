"""`gdumb`: one network trained on the exemplars alone, when an answer is wanted."""

from merlin_cl.learners.gdumb_ensemble import GDumbEnsemble


class GDumb(GDumbEnsemble):
    """Greedy sampler and dumb learner (Prabhu, Torr and Dokania 2020).

    An ensemble of one: see `gdumb-ensemble`. Deviations: a balanced reservoir rather than each class's first examples; Adam
    at a constant rate, with as many passes as MERLIN's fine-tuning, rather than plain descent at a cyclic rate with CutMix.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'gdumb', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '91 %'
    """
