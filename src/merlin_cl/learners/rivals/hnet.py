"""`hnet`: a hypernetwork makes each task's classifier, and is kept from changing those of earlier tasks."""

from typing import ClassVar

import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.learners.augmentation import Augmenter
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.network_learner import cross_entropy
from merlin_cl.learners.rivals.hnet_settings import HNETSettings
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.hypernetwork import Hypernetwork
from merlin_cl.protocol import Inference, StreamInfo, TaskInfo
from merlin_cl.tensors import MASKED, State, as_float

UNCHOSEN = -1e4
"""The score of classes that belong to a task other than the one chosen."""


class HNET(Learner[HNETSettings]):
    """Task-conditioned hypernetworks (von Oswald et al. 2020, "Continual learning with hypernetworks").

    A chunked hypernetwork h(e, w) makes the classifier of a task from the task's embedding e. While task k is learned,
    strength / (k - 1) * sum over earlier tasks t of |h(e_t, w) - h(e_t, w*)|^2 is added to its loss, w* being the weights when
    the task began; only the newest embedding is learned. Each classifier chooses among its task's classes. With the task known
    (`aware`), its classifier answers; otherwise (`marginal`) the one whose answer has the least entropy (their HNET+ENT).

    `strength` is theirs; Adam begins anew with each task as there. Deviations: one pass over the stream; one hidden layer, and
    sizes chosen by a search on held-out training images of Split MNIST; the regulariser is taken
    at w itself rather than at w plus the step to come. Running statistics of a classifier that has them are not generated but
    kept for each task.

    Two tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'hnet', tasks=2, images_per_task=100).final_accuracy:.0f} %"
    '43 %'
    """

    inferences: ClassVar[tuple[Inference | None, ...]] = ("marginal", "aware")

    def __init__(self, stream: StreamInfo, settings: HNETSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.network = settings.classifier(stream)
        self.hypernetwork = Hypernetwork(
            self.network, stream.tasks, settings.chunk, settings.embedding, settings.hidden
        )
        weights = self.hypernetwork.initial(1, self.generator("initial")).to(self.device)
        self._bank, self._before = Bank(self.hypernetwork, weights), weights.clone()
        self._training = self._fresh_training()
        # The classifiers of all tasks, [tasks, P]: what is generated is filled in when needed, statistics live here.
        rows = self.network.initial(1, self.generator("statistics")).repeat(stream.tasks, 1)
        self._classifiers = rows.to(self.device)
        self._augmented = Augmenter(settings.augmentation, stream, self.generator("augmentation"))
        self._targets: Tensor | None = None  # earlier tasks' classifiers as they were when the task began

    def _fresh_training(self) -> Training:
        settings = self.settings
        return Training(
            self._bank, settings.learning_rate, settings.weight_decay, decoupled=False, optimiser=settings.optimiser
        )

    def _task_vectors(self, count: int) -> Tensor:
        """One-hot vectors of the first tasks, [1, count, tasks]."""
        return torch.eye(self.stream.tasks, device=self.device)[None, :count]

    def generated(self, weights: Tensor, count: int) -> Tensor:
        """The classifiers of the first tasks, without statistics, [count, learned], by hypernetwork weights [1, P]."""
        with torch.no_grad():
            return self.hypernetwork.apply(weights, self._task_vectors(count))[0]

    def _begin(self, task: TaskInfo) -> None:
        self._before.copy_(self._bank.weights)
        self._targets = None
        self._training = self._fresh_training()

    def _observe(self, x: Tensor, y: Tensor) -> None:
        with self.phases.timed("base"):
            for _ in range(self.settings.updates_per_batch):
                self._update(self._augmented(as_float(x)), y)

    def _update(self, x: Tensor, y: Tensor) -> None:
        task, own = self.tasks[-1].index, self._allowed([self.tasks[-1].classes])[0]
        if self._targets is None and task > 0:
            self._targets = self.generated(self._before, task)
        classifier = Bank(self.network, self._classifiers[task : task + 1])  # a view: statistics are written through it
        of_classifier = Training(classifier, learning_rate=0.0)

        def loss(generated: Tensor) -> Tensor:
            """Its gradient by the newest classifier is that of the classifier's loss, worked out by the classifier itself."""
            newest, learned = generated[0, task], self.network.learned
            classifier.weights[0, :learned] = newest.detach()
            gradient = of_classifier.gradient(x.unsqueeze(0), lambda logits: cross_entropy(logits[0], y, own).mean())
            total = (newest * gradient[0, :learned]).sum()
            if self._targets is not None:
                total = total + self.settings.strength * (generated[0, :task] - self._targets).square().sum() / task
            return total

        gradient = self._training.gradient(self._task_vectors(task + 1), loss)
        self.hypernetwork.views(gradient)["tasks"][:, :task] = 0  # earlier embeddings stay
        self._training.update()

    def _end(self) -> None:
        self._targets = None

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        if inference == "aware" and task is None:
            raise UsageError("aware inference needs to know the task; give it, or ask for marginal inference.")
        count, learned = len(self.tasks), self.network.learned
        rows = self._classifiers[:count].clone()
        rows[:, :learned] = self.generated(self._bank.weights, count)
        logits = Bank(self.network, rows).logits(as_float(x))  # [tasks, N, classes]
        own = self._allowed([info.classes for info in self.tasks])  # [tasks, classes]
        logs = logits.masked_fill(~own[:, None, :], MASKED).log_softmax(dim=2)
        entropy = -(logs.exp() * logs).masked_fill(~own[:, None, :], 0).sum(dim=2)  # [tasks, N]
        answers = []
        for mask in allowed:
            possible = (own & mask).any(dim=1)  # tasks that have an allowed class
            if inference == "aware" and task is not None:
                chosen = torch.full((len(x),), task, device=self.device)
            else:
                chosen = entropy.masked_fill(~possible[:, None], torch.inf).argmin(dim=0)  # [N]
            scores = logs[chosen, torch.arange(len(x), device=self.device)]  # [N, classes]
            scores = torch.where(own[chosen], scores, UNCHOSEN)
            answers.append(torch.where(mask, scores, MASKED))
        return torch.stack(answers)

    def _state(self) -> State:
        return {
            "weights": self._bank.weights.clone(),
            "before": self._before.clone(),
            "training": self._training.state(),
            "statistics": self._classifiers[:, self.network.learned :].clone(),
            **self._augmented.state(),
        }

    def _restore(self, state: State) -> None:
        self._bank.weights.copy_(state["weights"])
        self._before.copy_(state["before"])
        self._training = self._fresh_training()
        self._training.restore(state["training"])
        self._classifiers[:, self.network.learned :] = state["statistics"]
        self._targets = None
        self._augmented.restore(state)

    def stored_bytes(self) -> dict[str, int]:
        """The hypernetwork, within a task also as it was before, and statistics of the classifiers, if they have any."""
        size = 4 * self.hypernetwork.size
        statistics = 4 * len(self.tasks) * (self.network.size - self.network.learned)
        return {"meta_model": size, "previous_meta_model": size if self.learning else 0, "statistics": statistics}

    def parameters(self) -> dict[str, int]:
        """Weights of one classifier and of the hypernetwork."""
        return {"classifier": self.network.size, "meta_model": self.hypernetwork.size}
