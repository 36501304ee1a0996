"""Learning, Algorithm 1: train base models on each task, learn the distribution of their weights, consolidate."""

from typing import Self

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.errors import UsageError
from merlin_cl.learners.learner import MASKED, State, as_float
from merlin_cl.learners.merlin.base_models import BaseModels, Examples
from merlin_cl.learners.merlin.consolidation import Auxiliary, consolidate, learn_by_chunks, learn_jointly
from merlin_cl.learners.merlin.decoders import Form
from merlin_cl.learners.merlin.descriptors import DescribedTasks
from merlin_cl.learners.merlin.distribution import WeightDistribution
from merlin_cl.learners.merlin.probes import probe
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.networks.bank import Bank
from merlin_cl.networks.growth import HeadGrowth
from merlin_cl.networks.network import Network
from merlin_cl.protocol import StreamInfo, TaskInfo


class Merlin(DescribedTasks):
    """Meta-Consolidation for Continual Learning (Joseph and Balasubramanian, NeurIPS 2020).

    Between tasks it keeps the distribution over weights, the tasks' priors and the exemplars: no old models, no other data.
    Where the `default` preset leaves the paper, and why, is on its page, `docs/methods/merlin.md`.
    """

    def __init__(self, stream: StreamInfo, settings: MerlinSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self._distribution: WeightDistribution | None = (
            None  # made when the first task tells the width of a task vector
        )
        self._old_shares: list[float] = []  # for each task: how much of what its base models saw was of earlier tasks
        self._base: BaseModels | None = None  # of the current task; after its end only `probe` looks at them

    @property
    def distribution(self) -> WeightDistribution:
        """p(psi | t) and the priors of all tasks learned so far."""
        if self._distribution is None:
            self._distribution = self._new_distribution()
        return self._distribution

    def _new_distribution(self, form: Form | None = None) -> WeightDistribution:
        """One that knows nothing, of the best form for the stream or of that given."""
        return WeightDistribution(
            self.network,
            self._origin(),
            self.settings,
            self._descriptor_width(),
            self.generator("distribution"),
            self.stream.tasks,
            form,
        )

    def _begin(self, task: TaskInfo) -> None:
        self._check_descriptor(task)
        if task.index == 0:
            self._distribution = None  # whoever asked before did not know how wide a task vector is
        self._base = self._base_models(task)
        self._ensembles.clear()

    def _admitted(self) -> None:
        super()._admitted()
        assert self._base is not None
        self._base.admit(self._base_outputs(self.tasks[-1]))

    def _observe(self, x: Tensor, y: Tensor) -> None:
        assert self._base is not None
        with self.phases.timed("base"):
            task = self.tasks[-1].index
            old, own = Examples(*self.memory.before_task(task)), Examples(*self.memory.of_task(task))
            if self.stream.domain_incremental:
                old = Examples(old.x, torch.full_like(old.y, self.stranger))
            self._base.learn(x, y, old, own)
            self.memory.offer(x, y, task)
        self._ensembles.clear()

    def _end(self) -> None:
        assert self._base is not None
        if self.settings.descriptor == "task2vec":
            self.tasks[-1] = self._embedded(self.tasks[-1])
        task, psi, generator = self.tasks[-1], self._base.psi, self.generator("vae", self.tasks[-1].index)
        vector, distribution = self._task_vector(task), self.distribution
        learn = learn_by_chunks if self.settings.vae_optimiser == "adagrad" else learn_jointly
        trained = self.settings.vae == "trained"
        if trained:
            with self.phases.timed("vae"):
                learn(distribution, psi, vector, self.settings, generator, self.phases, self._auxiliary(task))
        with torch.no_grad():
            distribution.priors.append(distribution.prior(vector).detached())
        self._old_shares.append(self._base.old_share)
        if trained and self.settings.consolidation == "after":
            with self.phases.timed("consolidate"):
                consolidate(distribution, self.settings, generator, self.phases)
        distribution.settle()
        self._ensembles.clear()

    def _being_learned(self) -> Tensor | None:
        return self._base.psi if self.learning and self._base is not None else None

    def _old_share(self, j: int) -> float:
        if j < len(self._old_shares):
            return self._old_shares[j]
        assert self._base is not None
        return self._base.old_share

    def _base_models(self, task: TaskInfo) -> BaseModels:
        """B models to learn a task: sampled for the task before, or untrained, all at psi_0 where offsets from it are learned."""
        count, generator = self.settings.base_models, self.generator("base", task.index)
        if self.settings.start == "consolidated" and self.distribution.priors:
            before = len(self.distribution.priors) - 1
            purpose = f"start of task {task.index}"
            start = self.sample(self.distribution.priors[before], count, purpose, *self._as_in_task(before)).weights
        elif self.settings.code == "offsets":
            start = self._origin().expand(count, -1)
        else:
            start = self._initial(count, generator)
        return BaseModels(self.network, start, self._base_outputs(task), self.settings, generator)

    def _base_outputs(self, task: TaskInfo) -> Tensor:
        """Which outputs base models choose among: bool [outputs]."""
        classes = list(task.classes) if self.settings.base_classes == "task" else self.seen
        if self.network.classes > self.stream.classes:
            classes = [*classes, self.stranger]
        return self._outputs(classes)

    def _origin(self) -> Tensor:
        """psi_0, [P]: the seed regenerates it, so it costs nothing to keep. Zero where weights are learned as they are."""
        if self.settings.code == "weights":
            return torch.zeros(self.network.size, device=self.device)
        return self._initial(1, self.generator("psi_0"))[0]

    def _auxiliary(self, task: TaskInfo) -> Auxiliary | None:
        """The appendix's classification loss: generated models must solve the task, judged by its exemplars."""
        if self.settings.classification_loss == 0:
            return None
        x, y = self.memory.of_task(task.index)
        allowed = self._outputs(task.classes)

        def loss(chunks: Tensor) -> Tensor:
            psi = self.distribution.code.join(chunks)
            logits = self.network.apply(psi, as_float(x).expand(len(psi), *x.shape)).masked_fill(~allowed, MASKED)
            return functional.cross_entropy(logits.flatten(0, 1), y.repeat(len(psi)))

        return loss if len(y) else None

    def probe(self, task: int, x: Tensor, y: Tensor) -> dict[str, float]:
        """How much of a task the distribution holds, measured without fine-tuning on the task's test data: see `probes.py`."""
        known = self._base is not None and task == self.tasks[-1].index
        base = Bank(self.network, self._base.psi) if self._base is not None and known else None
        sampled = self.sample_task(task, purpose=f"probe {task}")
        code, outputs = self.distribution.code, self._outputs(self.tasks[task].classes)
        return probe(sampled, base, code, self.settings.summary, as_float(x), y, outputs)

    def _state(self) -> State:
        learning = self.learning and self._base is not None
        return {
            "memory": self.memory.state(),
            "distribution": self.distribution.state(),
            "old_shares": list(self._old_shares),
            "base": self._base.state() if learning and self._base is not None else {},
        }

    def _restore(self, state: State) -> None:
        self._ensembles.clear()
        self.memory.restore(state["memory"])
        factors = self.settings.decoder == "factors"  # in the form they have in the state, whatever would be chosen now
        form = WeightDistribution.form_of(state["distribution"], self.network) if factors else None
        self._distribution = self._new_distribution(form)
        self._distribution.restore(state["distribution"])
        self._old_shares = list(state["old_shares"])
        self._base = self._base_models(self.tasks[-1]) if self.learning else None
        if self._base is not None:
            self._base.restore(state["base"])

    def _widened(self, state: State, narrow: Self) -> State:
        if self.settings.decoder == "chunks":
            raise UsageError(
                "merlin with decoder chunks cannot take more classes or tasks than it was made for "
                f"({narrow.stream.classes} and {narrow.stream.tasks}), as its chunks would shift; make it with room for all, or "
                "use decoder factors."
            )
        state, head = super()._widened(state, narrow), self._head_growth(narrow.network)
        base = state["base"]
        if base:
            fresh = self._base_models(self.tasks[-1]).psi
            rows = {name: head.rows(base[name], fresh) for name in ("weights", "average")}
            base = {**base, **rows, "training": head.moments(base["training"])}
        self._distribution = self._new_distribution(narrow.distribution.form)
        distribution = self._distribution.widened(state["distribution"], narrow.distribution, head.outputs)
        return {**state, "distribution": distribution, "base": base}

    def _head_growth(self, narrow: Network) -> HeadGrowth:
        """The output for strangers, if there is one, stays the last."""
        with_stranger = self.network.classes > self.stream.classes
        outputs = [*range(narrow.classes - with_stranger), *([self.stranger] if with_stranger else [])]
        return HeadGrowth(narrow, self.network, outputs)

    def stored_bytes(self) -> dict[str, int]:
        """Exemplars, meta-model, priors, and descriptors where tasks have any."""
        descriptors = 4 * sum(len(task.descriptor) for task in self.tasks if task.descriptor is not None)
        extra = {"descriptors": descriptors} if descriptors else {}
        distribution = self.distribution.stored_bytes()
        distribution["priors"] += 4 * len(self._old_shares)
        return {**super().stored_bytes(), **distribution, **extra}

    def parameters(self) -> dict[str, int]:
        """Weights of one classifier and parameters of the VAE."""
        return {**super().parameters(), "meta_model": self.distribution.parameters}
