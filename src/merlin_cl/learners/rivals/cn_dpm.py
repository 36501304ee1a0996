"""`cn-dpm`: a mixture of experts that grows where no expert explains what arrives."""

import math
from typing import Self

import torch
from torch import Tensor

from merlin_cl.learners.augmentation import Augmenter
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.rivals.cn_dpm_settings import CNDPMSettings
from merlin_cl.learners.rivals.input_generator import InputGenerator, checked
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.growth import HeadGrowth
from merlin_cl.protocol import Inference, StreamInfo, TaskInfo
from merlin_cl.tensors import MASKED, State, as_float

BATCH = 10
"""Examples in a batch of a new expert's passes, as many as usually arrive."""
NEW = -1
"""Stands for an expert that is not there yet."""


class Expert:
    """A classifier p(y | x), a generator p(x), and how well they explain their examples when these arrive."""

    def __init__(self, learner: "CNDPM", number: int) -> None:
        settings, stream, device = learner.settings, learner.stream, learner.device
        network = settings.classifier(stream)
        self.classifier = Bank(network, network.initial(1, learner.generator("classifier", number)).to(device))
        self.training = Training(
            self.classifier, settings.learning_rate, settings.weight_decay, False, settings.optimiser
        )
        self.inputs = InputGenerator(stream, settings, learner.generator("generator", number), device)
        self._augmented = learner.augmented
        self.count = 0  # examples that it has learned from
        self.classes = torch.zeros(stream.classes, dtype=torch.bool, device=device)  # those among them
        self._explained = torch.zeros(3, dtype=torch.float64)  # count, sum and sum of squares of log p(x, y)

    def learn(self, x: Tensor, y: Tensor) -> None:
        """One step of both; the generator learns inputs as they are."""
        self.classes[y] = True
        self.training.step(self._augmented(x), y, self.classes)
        self.inputs.learn(x)

    def log_input(self, x: Tensor) -> Tensor:
        """The logarithm of count * p(x), [N]."""
        return self.inputs.log_likelihood(x) + math.log(self.count)

    def log_answers(self, x: Tensor) -> Tensor:
        """log p(y | x), [N, classes]: classes that it has not learned do not occur."""
        return self.classifier.logits(x)[0].masked_fill(~self.classes, MASKED).log_softmax(dim=1)

    def log_joint(self, x: Tensor, y: Tensor) -> Tensor:
        """log p(x, y), [N]."""
        return self.inputs.log_likelihood(x) + self.log_answers(x).gather(1, y.unsqueeze(1))[:, 0]

    def note(self, joint: Tensor) -> None:
        """Remember how well examples of its own were explained before it learned from them (impossible ones aside)."""
        joint = joint[joint > MASKED / 2]
        joint = joint.double().cpu()
        self._explained += torch.stack([torch.ones_like(joint), joint, joint.square()]).sum(dim=1)

    def least_usual(self, surprise: float) -> float:
        """log p(x, y) below which an example is no longer one of its own: so many standard deviations below the mean."""
        count, total, squares = self._explained.tolist()
        mean: float = total / max(count, 1)
        return mean - surprise * math.sqrt(max(squares / max(count, 1) - mean**2, 0.0))

    def state(self) -> State:
        """Everything, random state included."""
        networks = {"classifier": self.classifier.weights.clone(), "training": self.training.state()}
        return {
            **networks,
            "inputs": self.inputs.state(),
            "count": self.count,
            "classes": self.classes.clone(),
            "explained": self._explained.clone(),
        }

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.classifier.weights.copy_(state["classifier"])
        self.training.restore(state["training"])
        self.inputs.restore(state["inputs"])
        self.count = int(state["count"])
        self.classes, self._explained = state["classes"].clone(), state["explained"].cpu().clone()

    def widened(self, state: State) -> State:
        """What an expert for fewer classes gave as its state, for this one, which is new, to restore."""
        known, network = len(state["classes"]), self.classifier.network
        head = HeadGrowth(network.with_outputs(known), network, range(known))
        classes = self.classes.clone()
        classes[:known] = state["classes"]
        weights = head.rows(state["classifier"], self.classifier.weights)
        return {**state, "classifier": weights, "training": head.moments(state["training"]), "classes": classes}


class CNDPM(Learner[CNDPMSettings]):
    """Continual neural Dirichlet process mixture (Lee et al. 2020, "A neural Dirichlet process mixture model for task-free
    continual learning").

    An arriving example goes to the expert k for which N_k p(x | k) p(y | x, k) is greatest, and the expert learns from it;
    if even that expert explains it far worse than it usually does its own, it goes to a short-term memory. When that is
    full, a new expert learns it, pass after pass. An answer is the experts' mixture, weighed by N_k p(x | k). Tasks play
    no part.

    Deviations: experts share no features (theirs have lateral connections); an example is new below `surprise` standard
    deviations of what its expert is used to, where theirs compares with a constant that has to be tuned for each stream; to an
    expert, classes that it has not learned are impossible, where theirs finds them unlikely; the number of experts is
    bounded; a first task too short to fill the memory makes the first expert when it ends.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'cn-dpm', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '93 %'
    """

    def __init__(self, stream: StreamInfo, settings: CNDPMSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.experts: list[Expert] = []
        self.augmented = Augmenter(settings.augmentation, stream, self.generator("augmentation"))
        self.memory = ExemplarMemory(
            settings.exemplars, "random", stream.input_shape, self.generator("exemplars"), self.device
        )
        self._order = self.generator("order")

    def _begin(self, task: TaskInfo) -> None:
        pass

    def _observe(self, x: Tensor, y: Tensor) -> None:
        inputs = checked(x, self.settings)
        with self.phases.timed("base"):
            chosen = self._chosen(inputs, y)  # [N]
            for number, expert in enumerate(self.experts):
                own = chosen == number
                if own.any():
                    expert.count += int(own.sum())
                    for _ in range(self.settings.updates_per_batch):
                        expert.learn(inputs[own], y[own])
            for at in (chosen == NEW).nonzero().flatten().tolist():
                self.memory.put(len(self.memory), x[at], int(y[at]), self.tasks[-1].index)
                if len(self.memory) == self.memory.budget:
                    self._add_expert()

    def _end(self) -> None:
        if not self.experts and len(self.memory):
            with self.phases.timed("base"):
                self._add_expert()

    def _chosen(self, x: Tensor, y: Tensor) -> Tensor:
        """The number of the expert for each example, or NEW, [N]."""
        if not self.experts:
            return torch.full((len(y),), NEW, device=self.device)
        joint = torch.stack([expert.log_joint(x, y) for expert in self.experts])  # [K, N]
        counts = torch.tensor([expert.count for expert in self.experts], device=self.device)
        chosen = (joint + counts.log().unsqueeze(1)).argmax(dim=0)
        explained = joint.gather(0, chosen.unsqueeze(0))[0]
        if len(self.experts) < self.settings.experts:
            least = [expert.least_usual(self.settings.surprise) for expert in self.experts]
            chosen = chosen.masked_fill(explained < torch.tensor(least, device=self.device)[chosen], NEW)
        for number, expert in enumerate(self.experts):
            expert.note(explained[chosen == number])
        return chosen

    def _add_expert(self) -> None:
        """A new expert learns what the memory holds, and the memory is empty again.

        A fifth is held back at first, to see how well the expert explains examples that it has not learned from.
        """
        expert, settings = Expert(self, len(self.experts)), self.settings
        x, y = as_float(self.memory.x), self.memory.y
        order = torch.randperm(len(y), generator=self._order).to(self.device)
        apart, learned = order.tensor_split([max(1, len(y) // 5)])
        if len(learned) == 0:
            learned = apart
        for _ in self.phases.steps("expert", range(settings.epochs), settings.epochs):
            for places in learned[torch.randperm(len(learned), generator=self._order)].split(BATCH):
                expert.learn(x[places], y[places])
        expert.note(expert.log_joint(x[apart], y[apart]))
        expert.learn(x[apart], y[apart])
        expert.count = len(y)
        self.experts.append(expert)
        self.memory.keep([])

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        x = as_float(x)
        scores = torch.zeros(len(x), self.stream.classes, device=self.device)
        if self.experts:
            weights = torch.stack([expert.log_input(x) for expert in self.experts]).log_softmax(dim=0)  # [K, N]
            answers = torch.stack([expert.log_answers(x) for expert in self.experts])  # [K, N, classes]
            scores = (weights.unsqueeze(2) + answers).logsumexp(dim=0)
        return torch.where(allowed[:, None, :], scores, MASKED)

    def _state(self) -> State:
        return {
            "experts": {str(number): expert.state() for number, expert in enumerate(self.experts)},
            "memory": self.memory.state(),
            "order": self._order.get_state(),
            **self.augmented.state(),
        }

    def _restore(self, state: State) -> None:
        self.experts = [Expert(self, number) for number in range(len(state["experts"]))]
        for number, expert in enumerate(self.experts):
            expert.restore(state["experts"][str(number)])
        self.memory.restore(state["memory"])
        self._order.set_state(state["order"])
        self.augmented.restore(state)

    def _widened(self, state: State, narrow: Self) -> State:
        experts = {number: Expert(self, int(number)).widened(held) for number, held in state["experts"].items()}
        return {**state, "experts": experts}

    def stored_bytes(self) -> dict[str, int]:
        """The experts' networks with Adam's moments, and the short-term memory. Grows with the number of experts."""
        experts = sum(expert.inputs.stored_bytes + 4 * expert.classifier.network.size for expert in self.experts)
        return {"experts": 3 * experts, "exemplars": self.memory.stored_bytes}

    def parameters(self) -> dict[str, int]:
        """Weights of one expert's classifier, and of all experts."""
        classifier = self.settings.classifier(self.stream).size
        return {
            "classifier": classifier,
            "experts": sum(classifier + expert.inputs.vae.size for expert in self.experts),
        }
