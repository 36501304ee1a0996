"""`pcr`: replay in which inputs are drawn to the proxies of their classes, among those of the classes at hand."""

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.pcr_settings import PCRSettings


class PCR(ReplayLearner[PCRSettings]):
    """Proxy-based contrastive replay (Lin et al. 2023, "PCR: proxy-based contrastive replay for online class-incremental
    continual learning").

    A class has a proxy, its column of the last layer; a score is the cosine between an input's features and it, over the
    temperature. In the loss an input is compared with the proxies of all inputs of the batch, its own among them: a class
    that the batch lacks takes no part, and one that it has often weighs more. Arriving examples and exemplars come each with
    a second view. An answer is the nearest proxy.

    Temperature 0.09 and nothing learned before there are exemplars are theirs. Deviations: Adam rather than plain descent;
    the second view is that of `augmentation`, and without one every input stands once; they replay 10 exemplars (a batch of
    20 in all) and make one update a batch.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'pcr', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '92 %'
    """

    def _update(self, x: Tensor, y: Tensor) -> None:
        if len(self.memory) == 0:
            return
        x, y = self.with_replay(x, y)
        if self.settings.augmentation != "none":
            x, y = torch.cat([x, self.augmented(x)]), torch.cat([y, y])
        self.descend(proxy_contrast(self.forward(x), y))


def proxy_contrast(cosines: Tensor, y: Tensor) -> Tensor:
    """The mean loss of inputs with labels y [n], given their cosines with all proxies over the temperature, [n, classes].

    The logarithm of the share of the input's own proxy among the proxies of all n inputs, one for each.
    """
    count = torch.bincount(y, minlength=cosines.shape[1])
    rivals = (cosines + count.log()).logsumexp(dim=1)  # log 0 leaves out classes that the batch lacks
    own = functional.one_hot(y, cosines.shape[1]).to(cosines)
    return (rivals - (cosines * own).sum(dim=1)).mean()
