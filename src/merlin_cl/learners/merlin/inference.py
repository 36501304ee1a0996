"""Answering, Algorithm 3: sample models from the weight distribution, fine-tune them on the exemplars, let them vote.

`aggregate` and `aware` are the paper's task-agnostic and task-aware inference. `marginal` is ours: it needs no task either, but
lets every task's own models answer and weighs their answers by how likely the input is to come from that task.
"""

from abc import abstractmethod

import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.learners.ensemble_learner import EnsembleLearner
from merlin_cl.learners.learner import MASKED, as_float
from merlin_cl.learners.merlin.distribution import WeightDistribution
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import Inference

CERTAINTY = 20.0
"""How sharply a task ensemble's entropy (in nats) speaks for or against its task, where nothing better is known."""


class MerlinInference(EnsembleLearner[MerlinSettings]):
    """The half of MERLIN that answers; `learner.py` has the half that learns."""

    inferences = ("marginal", "aggregate", "aware")

    @property
    @abstractmethod
    def distribution(self) -> WeightDistribution:
        """What has been learned so far."""

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        if not self.distribution.priors:
            raise UsageError("No task has been learned yet; end() the first one before asking for answers.")
        inputs = as_float(x)
        if inference == "marginal":
            return self._marginal(inputs, allowed)
        if inference == "aggregate":
            return vote(self._task_agnostic().logits(inputs), allowed, self.settings.vote)
        if task is None:
            raise UsageError("Task-aware inference needs to be told the task; 'marginal' and 'aggregate' do not.")
        return vote(self._task_aware(task).logits(inputs), allowed, self.settings.vote)

    def _task_agnostic(self) -> Bank:
        """Lines 2 to 4: sample from the average of all priors, fine-tune on all exemplars."""
        if "aggregate" not in self._ensembles:
            with self.phases.timed("infer"):
                prior = self.distribution.aggregate_prior()
                psi = self.distribution.sample(
                    prior, self.models, self.generator("sample", "aggregate", len(self.tasks))
                )
                self._ensembles["aggregate"] = self._fine_tune(
                    psi, self.memory.x, self.memory.y, self.seen, self.settings.fine_tune_epochs, purpose="aggregate"
                )
        return self._ensembles["aggregate"]

    def _task_aware(self, j: int) -> Bank:
        """Lines 9 to 11: sample from task j's prior, fine-tune on task j's exemplars."""
        key = f"task {j}"
        if key not in self._ensembles:
            with self.phases.timed("infer"):
                prior = self.distribution.priors[j]
                psi = self.distribution.sample(prior, self.models, self.generator("sample", key, len(self.tasks)))
                self._ensembles[key] = self._fine_tune(
                    psi, *self.memory.of_task(j), list(self.tasks[j].classes), self.settings.aware_epochs, purpose=key
                )
        return self._ensembles[key]

    def _marginal(self, x: Tensor, allowed: Tensor) -> Tensor:
        """p(y | x) = sum over t of p(t | x) p(y | x, t), as logarithms."""
        known = range(len(self.distribution.priors))
        answers = torch.stack([self._probabilities(self._task_aware(j), x, self.tasks[j].classes) for j in known])
        weights = self._task_probabilities(x, answers)  # [N, T]
        mixture = torch.einsum("nt,tnc->nc", weights, answers)
        return mixture.clamp(min=1e-30).log().masked_fill(~allowed[:, None, :], MASKED)

    def _task_probabilities(self, x: Tensor, answers: Tensor) -> Tensor:
        """p(t | x), [N, T], from the tasks' own answers p(y | x, t), [T, N, classes].

        Where tasks bring new classes, the ensemble that was fitted to all exemplars says how likely each task's classes are.
        Where they share their classes only the certainty of each task's ensemble can tell.
        """
        if self.stream.domain_incremental:
            entropy = -(answers * answers.clamp(min=1e-30).log()).sum(dim=-1)  # [T, N]
            return (-CERTAINTY * entropy).softmax(dim=0).t()
        belief = self._probabilities(self._task_agnostic(), x, self.seen)  # [N, classes]
        members = self._allowed([self.tasks[j].classes for j in range(len(answers))])  # [T, classes]
        return belief @ members.t().float()

    def _probabilities(self, bank: Bank, x: Tensor, classes: list[int] | tuple[int, ...]) -> Tensor:
        """The ensemble's mean probabilities, [N, classes], over some classes."""
        return vote(bank.logits(x), self._allowed([classes]), "mean-probability")[0].exp()
