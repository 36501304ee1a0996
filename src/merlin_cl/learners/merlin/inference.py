"""Answering, Algorithm 3: sample models from the weight distribution and let them vote.

`aggregate` and `aware` are the paper's task-agnostic and task-aware inference. `marginal` is ours: it needs no task either, but
lets every task's own models answer and weighs their answers by how likely the input is to come from that task.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.learners.learner import Asked
from merlin_cl.learners.uncertainty import Members, entropy
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank
from merlin_cl.networks.statistics import reestimate_statistics
from merlin_cl.protocol import Inference
from merlin_cl.tensors import MASKED, as_float

if TYPE_CHECKING:
    from merlin_cl.learners.merlin.learner import Merlin

CERTAINTY = 20.0
"""How sharply a task ensemble's entropy (in nats) speaks for or against its task, where nothing better is known."""
SCOUTS = 3
"""Where tasks share their classes: models of every task that are asked whether an input is theirs. Domains are easily told apart;
classes that never met are not, and there all models are asked."""
DOUBT = 0.4
"""The power of p(t | x) by which tasks' ensembles are weighed when their doubt is asked for, chosen on held-out images."""
RESERVE = 0.7
"""Where tasks share their classes: what is believed of the log odds that an input is a task's own. Scouts of one task err
together, and with sixty tasks to be told apart half a dozen of them are too sure. Chosen on held-out images."""
NEGLIGIBLE = 1e-3
"""The probability of a task below which its scouts answer for all of its models."""


class Hearing:
    """Some inputs and what tasks' models said of them, so that no model is asked twice."""

    def __init__(self, x: Tensor, ensemble: Callable[[int], Bank]) -> None:
        """x [N, *input_shape]; `ensemble` gives a task's models."""
        self.x = x
        self._ensemble = ensemble
        self._said: dict[int, Tensor] = {}

    def all(self, j: int) -> Tensor:
        """What all of task j's models say, [E, N, outputs]."""
        if j not in self._said:
            self._said[j] = self._ensemble(j).logits(self.x)
        return self._said[j]

    def some(self, j: int, models: slice, at: Tensor) -> Tensor:
        """What some of them say of some inputs, int64 [n]: [S, n, outputs]."""
        if j in self._said:
            return self._said[j][models][:, at]
        bank = self._ensemble(j)
        return Bank(bank.network, bank.weights[models]).logits(self.x[at])


class MerlinInference:
    """The part of MERLIN that answers. Ensembles are sampled when they are first wanted and kept until more is learned."""

    def __init__(self, learner: Merlin) -> None:
        self._whose = weakref.ref(
            learner
        )  # not the learner itself: a snapshot that is dropped goes at once, models and all
        self._ensembles: dict[int | None, Bank] = {}  # by task; None: the one for all tasks

    def __reduce__(self) -> tuple[object, ...]:
        """For copies and pickles of the learner, whose part is theirs."""
        return type(self), (self._learner,), {"_ensembles": self._ensembles}

    @property
    def _learner(self) -> Merlin:
        learner = self._whose()
        assert learner is not None, "a learner outlives the parts it has"
        return learner

    def forget(self) -> None:
        """A task has ended, or the distribution is another: sample anew."""
        self._ensembles.clear()

    def forget_current(self) -> None:
        """Examples of the current task were learned from: old tasks' models stay, unless exemplars tell their statistics."""
        if self._learner.network.statistics:
            self.forget()
        else:
            self._ensembles.pop(None, None)
            self._ensembles.pop(len(self._learner.distribution.priors), None)

    @property
    def known(self) -> range:
        """Tasks that can be answered for: those learned, and the one being learned, whose base models speak for themselves."""
        learner = self._learner
        return range(len(learner.distribution.priors) + learner.has_base_models)

    def answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        """Scores [V, N, classes] for V sets of allowed classes, bool [V, classes]."""
        return self._answers(Hearing(as_float(x), self.task_specific), allowed, task, inference)

    def answers_together(self, x: Tensor, questions: Sequence[Asked], allowed: Sequence[Tensor]) -> list[Tensor]:
        """The same for several questions: `marginal` asks no model anew that `aware` has asked."""
        hearing, answers = Hearing(as_float(x), self.task_specific), [torch.empty(0)] * len(questions)
        for at in sorted(range(len(questions)), key=lambda at: questions[at].inference != "aware"):
            answers[at] = self._answers(hearing, allowed[at], questions[at].task, questions[at].inference)
        return answers

    def _answers(self, hearing: Hearing, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        self._check(task, inference)
        if inference == "marginal":
            return self._marginal(hearing, allowed)
        classes, evidence = self._learner.stream.classes, self._learner.evidence
        if inference == "aware" and task is not None:
            answer = vote(hearing.all(task)[..., :classes], allowed, "mean-probability")
            return answer if evidence is None else evidence.of_classes(answer, evidence.scores(hearing.x))
        return vote(self.task_agnostic().logits(hearing.x)[..., :classes], allowed, "mean-probability")

    def members(self, x: Tensor, task: int | None, inference: Inference | None) -> Members:
        """The distributions over classes that an answer is the mean of, and their weights.

        Without being told the task: those of every task's models among all outputs they were taught, where an input of another
        kind betrays itself best. p(t | x) is made of odds that err together and is surer than it ought to be, so ensembles are
        weighed by it with a power of `DOUBT`. What class means say of classes is no member's opinion and takes no part.
        """
        self._check(task, inference)
        learner, inputs = self._learner, as_float(x)
        if inference == "aware" and task is not None:
            return learner.equal_members(self.task_specific(task).logits(inputs), learner.tasks[task].classes)
        if inference != "marginal":
            return learner.equal_members(self.task_agnostic().logits(inputs), learner.seen)
        logits = [self.task_specific(j).logits(inputs) for j in self.known]
        of_tasks = [learner.equal_members(logits[j], self._taught(j)) for j in self.known]
        doubted = self.task_shares([some[: self._scouts] for some in logits], inputs) ** DOUBT  # [N, T]
        shares = doubted / doubted.sum(dim=1, keepdim=True)
        return Members(
            torch.cat([members.probabilities for members in of_tasks]),
            torch.cat([shares[:, j : j + 1] * of_tasks[j].weights for j in self.known], dim=1),
            tuple(len(members.probabilities) for members in of_tasks),
        )

    def shares(self, x: Tensor, inference: Inference | None) -> Tensor | None:
        """p(t | x), [N, T], where the tasks' models answer in turn."""
        if inference != "marginal":
            return None
        self._check(None, inference)
        inputs = as_float(x)
        return self.task_shares([self.task_specific(j).logits(inputs)[: self._scouts] for j in self.known], inputs)

    def _check(self, task: int | None, inference: Inference | None) -> None:
        if not self.known:
            raise UsageError("No task has been learned yet; begin() the first one before asking for answers.")
        if inference == "aware" and task is None:
            raise UsageError("Task-aware inference needs to be told the task; 'marginal' and 'aggregate' do not.")

    @property
    def _scouts(self) -> int:
        return SCOUTS if self._learner.stream.domain_incremental else self._learner.models

    # Task-agnostic and task-aware: lines 1 to 4 and 8 to 11 of Algorithm 3

    def task_agnostic(self, models: int | None = None) -> Bank:
        """Sample from the average of all priors, fine-tune on all exemplars. Only `aggregate` pays for it.

        Within the first task there is no prior yet, and its base models take the place of sampled ones.
        """
        if models is None:
            if None not in self._ensembles:
                self._ensembles[None] = self.task_agnostic(self._learner.models)
            return self._ensembles[None]
        learner = self._learner
        with learner.phases.timed("infer"):
            if learner.distribution.priors:  # lines 2 and 3
                psi = learner.distribution.aggregate(
                    models, learner.generator("sample", "aggregate", len(learner.tasks))
                )
                bank = Bank(learner.network, psi)
                reestimate_statistics(bank, as_float(learner.memory.x))
            else:
                bank = self._sampled(0, models)
            return learner.fine_tuned(bank)  # line 4

    def task_specific(self, j: int, models: int | None = None) -> Bank:
        """Sample from task j's prior (lines 9 and 10); its models know the task as they come, and line 11 is left out."""
        if models is None:
            if j not in self._ensembles:
                self._ensembles[j] = self._sampled(j, self._learner.models)
            return self._ensembles[j]
        return self._sampled(j, models)

    def _sampled(self, j: int, models: int) -> Bank:
        """Models for task j. While it is being learned it has no prior to sample from: its base models are the models."""
        learner = self._learner
        if j == len(learner.distribution.priors) and (current := learner.current_models) is not None:
            return Bank(learner.network, current)
        bank = Bank(
            learner.network, learner.distribution.sample(j, models, learner.generator("sample", j, len(learner.tasks)))
        )
        replayed = learner.replay_set(j)
        reestimate_statistics(bank, replayed.x, replayed.weights)
        return bank

    # Marginal: p(y | x) = sum over t of p(t | x) p(y | x, t)

    def _marginal(self, hearing: Hearing, allowed: Tensor) -> Tensor:
        """Its logarithms, [V, N, classes]. A few models of every task say whose an input is; then that task's others answer."""
        answer = hearing.x.new_zeros(hearing.x.shape[0], self._learner.network.classes)
        evidence = self._learner.evidence
        by_means = None if evidence is None else evidence.scores(hearing.x)
        for j, at, share, own in self._in_turn(hearing):
            classes = self._learner.tasks[j].classes
            said = self._together(own, classes)
            if self.task_specific(j).members > self._scouts:
                likely = self._concerned(share)
                others = hearing.some(j, slice(self._scouts, None), at[likely])
                said[likely] = self._together(torch.cat([own[:, likely], others]), classes)
            if evidence is not None and by_means is not None:
                said = evidence.of_classes(said, by_means[at])
            answer[at] += share.unsqueeze(1) * said.exp()
        scores = answer[:, : self._learner.stream.classes].clamp(min=1e-30).log()
        return scores.masked_fill(~allowed[:, None, :], MASKED)

    def _in_turn(self, hearing: Hearing) -> Iterator[tuple[int, Tensor, Tensor, Tensor]]:
        """Task by task: which inputs it is asked about, [n], p(t | x) of these, [n], and its scouts' logits, [S, n, outputs].

        Where tasks share their classes, the last task is asked first and earlier ones only about what no later one claims. Where
        they do not, all are asked about everything: somebody may want to choose among an earlier task's classes alone.
        """
        x, scouts = hearing.x, slice(self._scouts)
        everything = torch.arange(x.shape[0], device=x.device)
        if not (self._learner.stream.domain_incremental and self._learner.settings.replay):
            logits = [hearing.some(j, scouts, everything) for j in self.known]
            shares = self.task_shares(logits, x)
            yield from ((j, everything, shares[:, j], logits[j]) for j in self.known)
            return
        left = x.new_ones(x.shape[0])
        for j in reversed(self.known):
            at = self._concerned(left)
            if not torch.compiler.is_compiling() and not len(at):
                return
            own = hearing.some(j, scouts, at)
            odds = self.odds(own, j) if j else torch.full_like(left[at], 1e30)
            yield j, at, left[at] * odds / (1 + odds), own
            left[at] *= (1 / (1 + odds)).clamp(min=1e-6)

    @staticmethod
    def _concerned(share: Tensor) -> Tensor:
        """Which inputs, int64 [n], a task may well have sent; all of them in an exported program, which has one shape for all."""
        if torch.compiler.is_compiling():
            return torch.arange(share.shape[0], device=share.device)
        return (share > NEGLIGIBLE).nonzero().flatten()

    def task_shares(self, logits: list[Tensor], x: Tensor) -> Tensor:
        """p(t | x), [N, T], from the logits of some of every task's models on x; of vectors class means have a say, too."""
        evidence = self._learner.evidence
        shares = self._by_elimination(logits) if self._learner.settings.replay else self._by_certainty(logits)
        if evidence is None:
            return shares
        return evidence.of_tasks(shares, evidence.scores(x), [self._learner.tasks[j] for j in self.known])

    def _by_certainty(self, logits: list[Tensor]) -> Tensor:
        """p(t | x) where no task's models have seen another task: those that are sure of their answer have it."""
        answers = torch.stack(
            [self._probabilities(one, self._learner.tasks[j].classes) for j, one in enumerate(logits)]
        )
        return (-CERTAINTY * entropy(answers)).softmax(dim=0).t()

    def _by_elimination(self, logits: list[Tensor]) -> Tensor:
        """Every task's models learned to tell it from earlier tasks, so ask the last task's models first.

        p(t) = g_t times the product over later tasks s of (1 - g_s), with g_t the chance that task t's models give their own
        task against all earlier ones. They saw the whole task beside exemplars of the earlier ones, more of each than are
        left now.
        """
        shares, remaining = [], torch.ones_like(logits[0][0, :, 0])  # [N]
        for j in reversed(range(1, len(logits))):
            odds = self.odds(logits[j], j)
            shares.append(remaining * odds / (1 + odds))
            remaining = remaining * (1 / (1 + odds)).clamp(min=1e-6)
        return torch.stack([remaining, *shares[::-1]], dim=1)

    def odds(self, logits: Tensor, j: int) -> Tensor:
        """g_j / (1 - g_j), [N]: what task j's models give its classes, to what they give earlier ones.

        They give it for the mixture of tasks that they learned from. An input may come from any task alike, so the odds are
        corrected: own to earlier tasks as 1 to j. Where tasks share their classes, the mean of the models' log odds errs less
        than the odds of their mean, and counts by `RESERVE`.
        """
        learner = self._learner
        own = list(learner.tasks[j].classes)
        taught = self._taught(j)
        others = sorted(taught.difference(own))
        share = learner.old_share(j)
        if learner.stream.domain_incremental:
            said = (logits[..., own].logsumexp(dim=-1) - logits[..., others].logsumexp(dim=-1)).mean(dim=0)
            return (RESERVE * (said + math.log(share / ((1 - share) * j)))).clamp(-69, 69).exp()
        given = self._probabilities(logits, taught)
        for_own, against = given[:, own].sum(dim=1) * share, given[:, others].sum(dim=1) * (1 - share) * j
        return (for_own / against.clamp(min=1e-30)).clamp(max=1e30)

    def _taught(self, j: int) -> set[int]:
        """The outputs that task j's models were taught: its own classes and, by replay, what an earlier task's input is."""
        learner = self._learner
        own = set(learner.tasks[j].classes)
        if not (j and learner.settings.replay):
            return own
        if learner.stream.domain_incremental:
            return own | {learner.other_task}
        return own.union(*(task.classes for task in learner.tasks[:j]))

    def _probabilities(self, logits: Tensor, classes: Iterable[int]) -> Tensor:
        """An ensemble's mean probabilities, [N, outputs], over some outputs; logits [E, N, outputs]."""
        return self._together(logits, classes).exp()

    def _together(self, logits: Tensor, classes: Iterable[int]) -> Tensor:
        """The logarithms of these."""
        return vote(logits, self._learner.outputs(classes).unsqueeze(0), "mean-probability")[0]
