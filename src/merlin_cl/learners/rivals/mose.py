"""`mose`: experts along the depth of one network, each taught by itself, the last by the others."""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.mose_settings import MOSESettings
from merlin_cl.learners.rivals.nearest_mean import class_means, nearest_mean
from merlin_cl.learners.rivals.scr import contrastive
from merlin_cl.networks.experts import DepthExperts, Said
from merlin_cl.protocol import Inference, StreamInfo
from merlin_cl.tensors import as_float

PER_CLASS = 7
"""Exemplars for each class seen, at most, that fill up a balanced batch: theirs."""


class MOSE(ReplayLearner[MOSESettings]):
    """Multi-level online sequential experts (Yan et al. 2024, "Orchestrate latent expertise: advancing online continual
    learning with multi-level supervision and reverse self-distillation").

    Every expert reads another depth of the network and has a supervised contrastive loss on a projection of its own, a
    cross-entropy among the current task's classes on what arrives (and exemplars of this task), and twice one among all
    classes on a batch balanced between new and old classes; in the first task, there is but one, among all classes. In
    reverse self-distillation, a linear map of the last expert's features is to come near the features of each other expert.
    An answer is the class whose exemplars' mean feature is nearest, distances averaged over experts.

    Batches of up to 64, seven exemplars a class in them, temperature 0.07 and nothing learned before there are exemplars are
    theirs. Deviations: a reader is one layer on pooled maps, where theirs are attention and several convolutions; experts
    share the bias of their last layer; the second view is that of `augmentation`, and without one every input stands once
    (theirs stands four times); classes not seen yet are masked and there is no weight decay, unless `competing` and
    `weight_decay` say otherwise.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'mose', tasks=2, images_per_task=50).final_accuracy:.0f} %"
    '92 %'
    """

    gives_probabilities: ClassVar[bool] = False  # a distance from a mean is no likelihood

    def __init__(self, stream: StreamInfo, settings: MOSESettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        assert isinstance(self.network, DepthExperts)
        self._said = self.network.said

    def _update(self, x: Tensor, y: Tensor) -> None:
        if len(self.memory) == 0:
            return
        new_x, new_y = self._of_this_task(x, y)
        all_x, all_y = self._balanced(x, y)
        if self.settings.augmentation != "none":
            new_x, all_x = (torch.cat([part, self.augmented(part)]) for part in (new_x, all_x))
            new_y, all_y = torch.cat([new_y, new_y]), torch.cat([all_y, all_y])
        new, labels = len(new_y), torch.cat([new_y, all_y])
        own = self.competing if len(self.tasks) == 1 else self.mask_of(self.tasks[-1].classes)
        said = self._said(self.forward(torch.cat([new_x, all_x])))
        loss = reverse_distillation(said)
        for logits, projections in zip(said.logits, said.projections, strict=True):
            loss = loss + contrastive(projections, labels, self.settings.temperature)
            loss = loss + self.cross_entropy(logits[:new], new_y, own)
            loss = loss + 2 * self.cross_entropy(logits[new:], all_y)
        self.descend(loss)

    def _of_this_task(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """What arrives and exemplars of its task: half of `replay` in all, and `replay` more in the first task."""
        first = len(self.tasks) == 1
        count = self.settings.replay if first else max(0, self.settings.replay // 2 - len(y))
        more_x, more_y = self._exemplars_of(self.memory.tasks == self.tasks[-1].index, count)
        return torch.cat([x, more_x]), torch.cat([y, more_y])

    def _balanced(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """As many of what arrives as new classes are among all, filled up with exemplars of earlier tasks; none in the first."""
        if len(self.tasks) == 1:
            return x[:0], y[:0]
        before = {label for task in self.tasks[:-1] for label in task.classes}
        share = len(set(self.tasks[-1].classes) - before) / len(self.seen)
        arriving = min(int(self.settings.replay * share), len(y))
        count = min(self.settings.replay - arriving, PER_CLASS * len(self.seen))
        old_x, old_y = self._exemplars_of(self.memory.tasks < self.tasks[-1].index, count)
        return torch.cat([x[:arriving], old_x]), torch.cat([y[:arriving], old_y])

    def _exemplars_of(self, which: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Up to `count` exemplars, drawn from those in the mask `which` [n]."""
        return self.exemplars_at(self.drawn(count, which.nonzero().flatten()))

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        exemplars = self._features(as_float(self.memory.x.to(self.device)))
        labels, scores = self.memory.y.to(self.device), []
        for of_exemplars, of_inputs in zip(exemplars, self._features(as_float(x)), strict=True):
            means, known = class_means(of_exemplars, labels, self.stream.classes)
            scores.append(nearest_mean(of_inputs, means, known, allowed))
        return torch.stack(scores).mean(dim=0)

    def _features(self, x: Tensor) -> Tensor:
        """Every expert's features, scaled to length one, [E, N, width]."""
        return functional.normalize(self._said(self.bank.logits(x)[0]).features, dim=2)


def reverse_distillation(said: Said) -> Tensor:
    """How far the student is from every expert but the last: the distance of all N unit features together, summed over experts.

    No gradient goes to the experts that teach.
    """
    student = functional.normalize(said.student, dim=1)
    distances = [torch.dist(student, functional.normalize(features.detach(), dim=1)) for features in said.features[:-1]]
    return torch.stack(distances).sum() if distances else student.new_zeros(())
