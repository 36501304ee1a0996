"""Learning, Algorithm 1: train base models on each task, learn the distribution of their weights, consolidate."""

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor

from merlin_cl.errors import InputError, UsageError
from merlin_cl.learners.ensemble_learner import EnsembleLearner
from merlin_cl.learners.learner import Asked
from merlin_cl.learners.merlin.base_models import BaseModels, ExampleBatch
from merlin_cl.learners.merlin.consolidation import ReplaySet, consolidate, fitted
from merlin_cl.learners.merlin.distribution import Decoder, Latents, Prior, WeightDistribution
from merlin_cl.learners.merlin.evidence import ClassEvidence
from merlin_cl.learners.merlin.inference import MerlinInference
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.merlin.task_vectors import check_descriptor, described, embedded
from merlin_cl.learners.merlin.unseen import Blend, mixture, nearness
from merlin_cl.learners.probes import probe
from merlin_cl.learners.uncertainty import Members
from merlin_cl.networks.bank import Bank
from merlin_cl.networks.growth import HeadGrowth
from merlin_cl.networks.network import Network
from merlin_cl.networks.sketch import Sketch, grown
from merlin_cl.networks.statistics import reestimate_statistics
from merlin_cl.protocol import Inference, StreamInfo, TaskInfo
from merlin_cl.tensors import State, as_float

LEAST_MEMORY = 64_000
"""Bytes for the distributions where a classifier is so small that its own would be next to none."""
SHRUNK = 0.7
"""What a shrunk start keeps of the means of the task before. Chosen on held-out photographs."""


class Merlin(EnsembleLearner[MerlinSettings]):
    """Meta-Consolidation for Continual Learning (Joseph and Balasubramanian, NeurIPS 2020).

    Between tasks it keeps the weight distribution (the tasks' priors) and the exemplars: no old models, no other data. Where it
    leaves the paper, and why, is on its page, `docs/methods/merlin.md`; the recipe as printed is the method `merlin-paper`.

    Two tasks of Split MNIST, 50 images each, with few models:

    >>> from merlin_cl import run
    >>> outcome = run("split-mnist", "merlin", tasks=2, images_per_task=50, settings={"base_models": 3, "models": 3})
    >>> f"{outcome.final_accuracy:.0f} %"
    '94 %'
    """

    inferences = ("marginal", "aggregate", "aware")

    def __init__(self, stream: StreamInfo, settings: MerlinSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.distribution = self._new_distribution()
        self._base: BaseModels | None = None  # of the current task; after its end only `probe` looks at them
        self._old_shares: list[float] = []  # for each task: how much of what its base models saw was of earlier tasks
        self._inference = MerlinInference(self)
        self.evidence = self._new_evidence()

    # Algorithm 1

    def _begin(self, task: TaskInfo) -> None:
        try:
            check_descriptor(task, self.tasks[:-1], self.settings.descriptor)
        except InputError:
            self.tasks.pop()  # as if it had never begun
            self.learning = False
            raise
        self._base = self._base_models(task)
        self._inference.forget()

    def _observe(self, x: Tensor, y: Tensor) -> None:
        """Lines 2 to 4: the base models learn from the examples that arrive, beside exemplars."""
        assert self._base is not None
        with self.phases.timed("base"):
            task = self.tasks[-1].index
            old, own = ExampleBatch(*self.memory.before_task(task)), ExampleBatch(*self.memory.of_task(task))
            if self.stream.domain_incremental:
                old = ExampleBatch(old.x, torch.full_like(old.y, self.other_task))
            self._base.learn(x, y, old, own)
            self.memory.offer(x, y, task)
            if self.evidence is not None:
                self.evidence.take(as_float(x), y)
        self._inference.forget_current()

    def _end(self) -> None:
        """Lines 5 to 7: the task's prior p(z | t) joins the others, and all are consolidated."""
        assert self._base is not None
        if self.settings.descriptor == "task2vec":
            self.tasks[-1] = embedded(self.tasks[-1], self.memory)
        task, generator = self.tasks[-1].index, self.generator("consolidation", self.tasks[-1].index)
        self._old_shares.append(self._base.old_share)
        with self.phases.timed("distribution"):
            self.distribution.priors.append(self._prior(self._base, self.replay_set(task), generator))
        with self.phases.timed("consolidate"):
            consolidate(self.distribution, self.settings.consolidation, self.replay_set, generator, brief=self.in_trial)
        self._inference.forget()

    def _prior(self, base: BaseModels, replay_set: ReplaySet, generator: torch.Generator) -> Prior:
        """p(z | t) of the task that ends, stored in few bits such that its models answer as the base models do.

        Running statistics take up what rounding changed; on networks that have them a fit to exemplars adds only its own error.
        """
        if self.settings.consolidation != "replay" or self.network.statistics:
            return base.prior
        models = Bank(self.network, base.psi)
        return fitted(base.prior, models, self.distribution, replay_set, generator, brief=self.in_trial)

    def _base_models(self, task: TaskInfo, held: State | None = None) -> BaseModels:
        """As many as the task can keep components, in the form of z that there is room for; or what `held`, their state, says.

        Where they start is the seed's psi_0, or the means of the task before.
        """
        distribution, priors, most = self.distribution, self.distribution.priors, self.settings.base_models
        if held is None:
            form = distribution.form_for(len(priors) + 1, most)
            count = distribution.components_for(len(priors) + 1, most, form)
        else:
            form = self._sketch.short if held.get("short") and self._sketch.short else self._sketch
            count = len(held["starts"])
        begin = Latents(
            torch.zeros(count, self._sketch.size, device=self.device), torch.arange(count, device=self.device)
        )
        if self.settings.start != "psi_0" and priors:
            before = distribution.prior(len(priors) - 1).mean(distribution.sketch).z[:count]
            begin.z[: len(before)] = SHRUNK * before if self.settings.start == "shrunk" else before
        outputs, generator = self._base_outputs(task.index), self.generator("base", task.index)
        return BaseModels(distribution.decoder, form, begin, outputs, self.settings, generator)

    def _base_outputs(self, j: int) -> Tensor:
        """Which outputs task j's base models choose among, bool [outputs]: classes seen by then, and strangers."""
        classes = {label for task in self.tasks[: j + 1] for label in task.classes}
        return self.outputs([*classes, self.other_task] if self.network.classes > self.stream.classes else classes)

    def replay_set(self, j: int) -> ReplaySet:
        """What task j's models are replayed on: exemplars of the tasks that they saw, in the mixture in which they saw them."""
        tasks, old_share = self.memory.tasks, self.old_share(j)
        chosen = tasks <= j if old_share else tasks == j
        own = tasks[chosen] == j
        weights = torch.where(own, (1 - old_share) / own.sum().clamp(min=1), old_share / (~own).sum().clamp(min=1))
        telling = int(own.sum()) >= len(self.tasks[j].classes)
        return ReplaySet(as_float(self.memory.x[chosen]), weights * len(own), self._base_outputs(j), telling)

    def _decoder(self) -> Decoder:
        """p(psi | z): starts and sketch, which the seed regenerates."""
        with_other_task = self.network.classes > self.stream.classes
        outputs = [*range(self.stream.classes), *(["stranger"] if with_other_task else [])]  # what it is drawn under
        first = self.settings.classifier(self.made_for)
        self._sketch = Sketch(self.network, min(self.settings.latent, first.size), self.generator, first, outputs)
        starts = self._initial(self.settings.base_models, self.generator("psi_0"))
        return Decoder(self._sketch.to(self.device), starts)

    def _new_distribution(self) -> WeightDistribution:
        """One that knows no task."""
        memory = 1000 * self.settings.memory or max(LEAST_MEMORY, 4 * self.settings.classifier(self.made_for).size)
        return WeightDistribution(self._decoder(), memory)

    def _new_evidence(self) -> ClassEvidence | None:
        """Of vectors whose classes come one after another."""
        stream = self.stream
        if len(stream.input_shape) != 1 or stream.domain_incremental:
            return None
        return ClassEvidence(stream.classes, stream.input_shape[0], self.generator("evidence"), self.device)

    # Algorithm 3 is in `inference.py`; this is what it and `probe` are told

    @property
    def has_base_models(self) -> bool:
        """Whether a task has not ended, so that its base models stand for it."""
        return self.learning and self._base is not None

    @property
    def current_models(self) -> Tensor | None:
        """The base models [B, P] of a task that has not ended, decoded with each call; None between tasks."""
        return self._base.psi if self.learning and self._base is not None else None

    @property
    def current_prior(self) -> Prior | None:
        """p(z | t) of the task that is being learned, as its base models tell it so far; None between tasks."""
        return self._base.prior if self.learning and self._base is not None else None

    @property
    def other_task(self) -> int:
        """The output for inputs of earlier tasks, where tasks share their classes."""
        return self.stream.classes

    def old_share(self, j: int) -> float:
        """How much of what task j's base models learned from was of earlier tasks, 0 to 1."""
        if j < len(self._old_shares):
            return self._old_shares[j]
        assert self._base is not None
        return self._base.old_share

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        return self._inference.answers(x, allowed, task, inference)

    def _answers_together(self, x: Tensor, questions: Sequence[Asked], allowed: Sequence[Tensor]) -> list[Tensor]:
        return self._inference.answers_together(x, questions, allowed)

    def _members(self, x: Tensor, task: int | None, inference: Inference | None) -> Members:
        return self._inference.members(x, task, inference)

    def _task_shares(self, x: Tensor, inference: Inference | None) -> Tensor | None:
        return None if inference == "aware" else self._inference.shares(x, inference)

    def ensemble(self, task: int | None = None, models: int | None = None) -> Bank:
        """The ensemble of one task, or, without one, that which is fitted to all exemplars; `models`: how many, if not as many
        as answer. A task that is being learned has no more than its base models."""
        part = (
            self._inference.task_agnostic
            if task is None
            else lambda models=None: self._inference.task_specific(task, models)
        )
        return part() if models is None else part().first(models) or part(models)

    def resample(self) -> None:
        """Sample anew for the next answer: for whoever changes the distribution by hand."""
        self._inference.forget()

    def _forget_ensembles(self) -> None:
        self.resample()

    def _admitted(self) -> None:
        super()._admitted()
        assert self._base is not None
        self._base.admit(self._base_outputs(self.tasks[-1].index))

    def sample_unseen(
        self, descriptor: Sequence[float], count: int | None = None, blend: Blend = "linear", x: Tensor | None = None
    ) -> Bank:
        """Models for a task that was never learned. Their features are made of those of known tasks; outputs of classes that
        no task had are as the seed made them, so they need examples before they answer.

        Running statistics come from x, inputs of the new task, or from all exemplars if there are none.
        """
        count = self.models if count is None else count
        if count < 1:
            raise UsageError(f"count is {count}; sample at least 1 model.")
        known, wanted = described(self.tasks[: len(self.distribution.priors)], descriptor)
        generator = self.generator("sample", "unseen", len(self.tasks))
        if blend == "linear":
            psi = self.distribution.aggregate(count, generator, mixture(known, wanted))
        else:
            chosen = torch.multinomial(nearness(known, wanted), count, True, generator=generator).bincount(
                minlength=len(known)
            )
            each = chosen.tolist()
            psi = torch.cat([self.distribution.sample(j, share, generator) for j, share in enumerate(each) if share])
        bank = Bank(self.network, psi)
        reestimate_statistics(bank, as_float(self.memory.x if x is None else self._checked_inputs(x)))
        return bank

    def drawn(self, task: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Latents [count, size] from a task's prior, and the models [count, P] that they decode to."""
        latents = self.distribution.prior(task).sample(self.distribution.sketch, count, generator)
        return latents.z, self.distribution.decoder(latents)

    def probe(self, task: int, x: Tensor, y: Tensor) -> dict[str, float]:
        """How much of a task the distribution holds, measured on the task's test data: see `learners/probes.py`."""
        learned_last = self._base is not None and task == self.tasks[-1].index
        base = Bank(self.network, self._base.psi) if self._base is not None and learned_last else None
        last = self._inference.task_specific(len(self.tasks) - 1)
        sampled = self._inference.task_specific(task)
        pair = sampled if sampled.members > 1 else self._inference.task_specific(task, 2)
        return probe(sampled, pair, base, last, as_float(x), y, self.outputs(self.tasks[task].classes))

    # State, growth, sizes

    def _state(self) -> State:
        learning = self.learning and self._base is not None
        return {
            "memory": self.memory.state(),
            "distribution": self.distribution.state(),
            "old_shares": list(self._old_shares),
            "base": self._base.state() if learning and self._base is not None else {},
            **({} if self.evidence is None else {"evidence": self.evidence.state()}),
        }

    def _restore(self, state: State) -> None:
        self._inference.forget()
        self.memory.restore(state["memory"])
        self.distribution = self._new_distribution()  # `made_for` is known only now
        self.distribution.restore(state["distribution"])
        self._old_shares = list(state["old_shares"])
        self.evidence = self._new_evidence() if "evidence" in state else None  # files from before it have none
        if self.evidence is not None:
            self.evidence.restore(state["evidence"])
        self._base = None
        if self.learning:
            self._base = self._base_models(self.tasks[-1], state["base"])
            self._base.restore(state["base"])

    def _widened(self, state: State, narrow: Self) -> State:
        state, head = super()._widened(state, narrow), self._head_growth(narrow.network)
        wide, base = self._decoder().sketch, state["base"]
        if base:
            form, before = wide, narrow.distribution.sketch
            if base["short"]:
                assert wide.short is not None
                assert before.short is not None
                form, before = wide.short, before.short
            places = form.places(before, head.outputs)
            rows = {name: grown(base[name], places, form.size) for name in ("mean", "square")}
            training = {
                name: grown(value, places, form.size) if value.dim() and name != "statistics" else value
                for name, value in base["training"].items()
            }
            base = {**base, **rows, "training": training}
        priors = [None if prior is None else prior.grown(head.outputs, wide) for prior in narrow.distribution.priors]
        distribution = {"priors": [None if prior is None else prior.state() for prior in priors]}
        evidence = {}
        if self.evidence is not None and "evidence" in state:
            evidence = {"evidence": self.evidence.widened(state["evidence"])}
        return {**state, "distribution": distribution, "base": base, **evidence}

    def _head_growth(self, narrow: Network) -> HeadGrowth:
        """The output for strangers, if there is one, stays the last."""
        with_other_task = self.network.classes > self.stream.classes
        outputs = [*range(narrow.classes - with_other_task), *([self.other_task] if with_other_task else [])]
        return HeadGrowth(narrow, self.network, outputs)

    def parameters(self) -> dict[str, int]:
        """Numbers in one classifier, and in what is learned of a task's distribution: the means of its components."""
        return {"classifier": self.network.size, "meta_model": self.settings.base_models * self._sketch.size}

    @property
    def reserved_bytes(self) -> int:
        """What is left for priors."""
        return max(0, self.distribution.memory - self.distribution.bytes)

    def stored_bytes(self) -> dict[str, int]:
        """Exemplars, the tasks' priors, class means of vectors, and descriptors where tasks have any."""
        descriptors = 4 * sum(len(task.descriptor) for task in self.tasks if task.descriptor is not None)
        extra = {"descriptors": descriptors} if descriptors else {}
        if self.evidence is not None:
            extra["class_means"] = self.evidence.stored_bytes
        priors = self.distribution.bytes + 4 * len(self._old_shares)
        return {**super().stored_bytes(), "priors": priors, **extra}
