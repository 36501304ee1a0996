"""Answering, Algorithm 3: sample models from the weight distribution, fine-tune them on the exemplars, let them vote.

`aggregate` and `aware` are the paper's task-agnostic and task-aware inference. `marginal` is ours: it needs no task either, but
lets every task's own models answer and weighs their answers by how likely the input is to come from that task.
"""

from abc import abstractmethod
from collections.abc import Iterable

import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.learners.ensemble_learner import EnsembleLearner
from merlin_cl.learners.learner import MASKED, as_float
from merlin_cl.learners.merlin.distribution import WeightDistribution
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.merlin.vae import Gaussian
from merlin_cl.learners.uncertainty import Members
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank
from merlin_cl.networks.statistics import reestimate_statistics
from merlin_cl.protocol import Inference

CERTAINTY = 20.0
"""How sharply a task ensemble's entropy (in nats) speaks for or against its task, where nothing better is known."""

OWN = 0.7
"""What the opinion of a task's own models counts beside that of later tasks' models, which descend from them."""


class MerlinInference(EnsembleLearner[MerlinSettings]):
    """The half of MERLIN that answers; `learner.py` has the half that learns."""

    inferences = ("marginal", "aggregate", "aware")

    @property
    @abstractmethod
    def distribution(self) -> WeightDistribution:
        """What has been learned so far."""

    @abstractmethod
    def _being_learned(self) -> Tensor | None:
        """The base models [B, P] of a task that has not ended; None between tasks."""

    @abstractmethod
    def _old_share(self, j: int) -> float:
        """How much of what task j's base models learned from was of earlier tasks, 0 to 1."""

    @property
    def _known(self) -> range:
        """Tasks that can be answered for: those learned, and the one being learned, whose base models speak for themselves."""
        return range(len(self.distribution.priors) + (self._being_learned() is not None))

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        inputs, bank = as_float(x), self._asked(task, inference)
        if bank is None:
            return self._marginal(inputs, allowed)
        return vote(bank.logits(inputs)[..., : self.stream.classes], allowed, self.settings.vote)

    def _members(self, x: Tensor, task: int | None, inference: Inference | None) -> Members:
        inputs, bank = as_float(x), self._asked(task, inference)
        if bank is not None:
            classes = self.tasks[task].classes if inference == "aware" and task is not None else self.seen
            return self._alike(bank.logits(inputs), classes)
        logits = [self._task_aware(j).logits(inputs) for j in self._known]
        of_tasks = [self._alike(logits[j], self.tasks[j].classes) for j in self._known]
        shares = self._task_shares(inputs, logits)  # [N, T]
        return Members(
            torch.cat([members.probabilities for members in of_tasks]),
            torch.cat([shares[:, j : j + 1] * of_tasks[j].weights for j in self._known], dim=1),
        )

    def _asked(self, task: int | None, inference: Inference | None) -> Bank | None:
        """The one ensemble that answers; None where those of all tasks do."""
        if not self._known:
            raise UsageError("No task has been learned yet; begin() the first one before asking for answers.")
        if inference == "aware" and task is None:
            raise UsageError("Task-aware inference needs to be told the task; 'marginal' and 'aggregate' do not.")
        return None if inference == "marginal" else self.ensemble(task if inference == "aware" else None)

    def ensemble(self, task: int | None = None, models: int | None = None) -> Bank:
        """The ensemble of one task, or, without one, that which is fitted to all exemplars; `models`: how many, if not as many
        as answer. A task that is being learned has no more than its base models."""
        ready = self._task_agnostic() if task is None else self._task_aware(task)
        if models is None:
            return ready
        return ready.first(models) or (self._aggregate(models) if task is None else self._specific(task, models))

    def _task_agnostic(self) -> Bank:
        """Lines 2 to 4: sample from the average of all priors, fine-tune on all exemplars. Within the first task there is no
        prior yet, and its base models take the place of sampled ones."""
        if "aggregate" not in self._ensembles:
            self._ensembles["aggregate"] = self._aggregate(self.models)
        return self._ensembles["aggregate"]

    def _aggregate(self, count: int) -> Bank:
        x, y, epochs = self.memory.x, self.memory.y, self.settings.fine_tune_epochs
        with self.phases.timed("infer"):
            if self.distribution.priors:
                bank = self.sample(self.distribution.aggregate_prior(), count, "aggregate", x)
            else:
                bank = self.sample_task(0, purpose="aggregate")
            return self._fine_tune(bank, x, y, self.seen, epochs, purpose="aggregate")

    def _task_aware(self, j: int) -> Bank:
        """Lines 9 to 11: sample from task j's prior, fine-tune on task j's exemplars."""
        key = f"task {j}"
        if key not in self._ensembles:
            self._ensembles[key] = self._specific(j)
        return self._ensembles[key]

    def _specific(self, j: int, count: int | None = None) -> Bank:
        x, y = self.memory.of_task(j)
        classes, epochs, purpose = list(self.tasks[j].classes), self.settings.aware_epochs, f"task {j}"
        with self.phases.timed("infer"):
            bank = self.sample_task(j, purpose, count)
            return self._fine_tune(bank, x, y, classes, epochs, purpose)

    def sample_task(self, j: int, purpose: str, count: int | None = None) -> Bank:
        """Models for task j, not fine-tuned. Statistics come from exemplars of the tasks that its base models saw.

        While task j is being learned it has no prior to sample from: its base models are the models.
        """
        base = self._being_learned()
        if base is not None and j == len(self.distribution.priors):
            return Bank(self.network, base.clone())
        count = min(self.models, self.settings.task_models) if count is None else count
        return self.sample(self.distribution.priors[j], count, purpose, *self._as_in_task(j))

    def _as_in_task(self, j: int) -> tuple[Tensor, Tensor]:
        """Exemplars of the tasks that task j's base models saw, and how much each must count to make up the same mixture."""
        tasks, old_share = self.memory.tasks, self._old_share(j)
        chosen = tasks <= j if old_share else tasks == j
        own = tasks[chosen] == j
        weights = torch.where(own, (1 - old_share) / own.sum().clamp(min=1), old_share / (~own).sum().clamp(min=1))
        return self.memory.x[chosen], weights * len(own)

    def sample(self, prior: Gaussian, count: int, purpose: str, x: Tensor, weights: Tensor | None = None) -> Bank:
        """Models from a prior, as they come from the decoder; statistics that it does not hold are taken from x, weighted."""
        generator = self.generator("sample", purpose, len(self.tasks))
        bank = Bank(self.network, self.distribution.sample(prior, count, generator))
        if self.settings.statistics == "re-estimated":
            reestimate_statistics(bank, as_float(x), weights)
        return bank

    def _marginal(self, x: Tensor, allowed: Tensor) -> Tensor:
        """p(y | x) = sum over t of p(t | x) p(y | x, t), as logarithms."""
        logits = [self._task_aware(j).logits(x) for j in self._known]  # T times [E, N, outputs]
        answers = self._task_answers(logits)  # [T, N, outputs]
        mixture = torch.einsum("nt,tnc->nc", self._task_shares(x, logits), answers)[:, : self.stream.classes]
        return mixture.clamp(min=1e-30).log().masked_fill(~allowed[:, None, :], MASKED)

    def _task_answers(self, logits: list[Tensor]) -> Tensor:
        """p(y | x, t), [T, N, outputs], from the logits of every task's models."""
        return torch.stack([self._answer(logits, j) for j in self._known])

    def _task_shares(self, x: Tensor, logits: list[Tensor]) -> Tensor:
        """p(t | x), [N, T], from the logits of every task's models."""
        transferred = self.settings.start == "consolidated"  # then a task's models know earlier ones as well as any do
        opinions = [] if self.stream.domain_incremental or transferred else [self._by_classes(x)]
        if self.settings.replay:
            opinions.append(self._by_elimination(logits))
        return _agreement(opinions or [_by_certainty(self._task_answers(logits))])

    def _by_classes(self, x: Tensor) -> Tensor:
        """p(t | x), [N, T]: how likely the ensemble that was fitted to all exemplars finds each task's classes."""
        belief = self._probabilities(self._task_agnostic().logits(x), self.seen)
        return torch.stack([belief[:, self.tasks[j].classes].sum(dim=1) for j in self._known], dim=1)

    def _by_elimination(self, logits: list[Tensor]) -> Tensor:
        """p(t | x), [N, T]: every task's models learned to tell it from earlier tasks, so ask the last task's models first.

        p(t) = g_t times the product over later tasks s of (1 - g_s), with g_t the chance that task t's models give their own
        task against all earlier ones. They saw the whole task beside exemplars of the earlier ones, more of each than are
        left now.
        """
        found, remaining = [], torch.ones_like(logits[0][0, :, 0])  # [N]
        for j in reversed(range(1, len(logits))):
            odds = self._odds(logits[j], j)
            found.append(remaining * odds / (1 + odds))
            remaining = remaining * (1 / (1 + odds)).clamp(min=1e-6)
        return torch.stack([remaining, *found[::-1]], dim=1)

    def _answer(self, logits: list[Tensor], j: int) -> Tensor:
        """p(y | x, j), [N, outputs]. Where later tasks' models descend from task j's, they know its classes too: the geometric
        mean of what task j's models and the later ones say."""
        classes = self.tasks[j].classes
        if self.settings.start == "psi_0" or self.stream.domain_incremental:
            return self._probabilities(logits[j], classes)
        own, *later = (self._probabilities(one, classes).clamp(min=1e-9).log() for one in logits[j:])
        together = OWN * own + (1 - OWN) * torch.stack(later).mean(dim=0) if later else own
        return together.masked_fill(~self._outputs(classes), MASKED).softmax(dim=1)

    def _odds(self, logits: Tensor, j: int) -> Tensor:
        """g_j / (1 - g_j), [N]: what task j's models give its classes, to what they give those of earlier tasks or strangers.

        They give it for the mixture of tasks that they learned from. An input may come from any task alike, so the odds are
        corrected: own to earlier tasks as 1 to j.
        """
        own = list(self.tasks[j].classes)
        if self.stream.domain_incremental:
            others = [self.stranger]
        else:
            others = sorted({label for task in self.tasks[:j] for label in task.classes}.difference(own))
        given = self._probabilities(logits, {*own, *others})
        share = self._old_share(j)
        for_own, against = given[:, own].sum(dim=1) * share, given[:, others].sum(dim=1) * (1 - share) * j
        return for_own / against.clamp(min=1e-30)

    @property
    def stranger(self) -> int:
        """The output for inputs of earlier tasks, where tasks share their classes."""
        return self.stream.classes

    def _probabilities(self, logits: Tensor, classes: Iterable[int]) -> Tensor:
        """An ensemble's mean probabilities, [N, outputs], over some outputs; logits [E, N, outputs]."""
        return vote(logits, self._outputs(classes).unsqueeze(0), "mean-probability")[0].exp()


def _by_certainty(answers: Tensor) -> Tensor:
    """p(t | x), [N, T], where nothing else is known: from how certain p(y | x, t), [T, N, classes], is."""
    entropy = -(answers * answers.clamp(min=1e-30).log()).sum(dim=-1)
    return (-CERTAINTY * entropy).softmax(dim=0).t()


def _agreement(opinions: list[Tensor]) -> Tensor:
    """Several opinions p(t | x), [N, T], as one: their geometric mean."""
    return torch.stack([opinion.clamp(min=1e-9).log() for opinion in opinions]).mean(dim=0).softmax(dim=1)
