"""`merlin-paper`, Algorithm 1: train base models on each task, learn the distribution of their weights, consolidate."""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.errors import UsageError
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.merlin_paper.base_models import BaseModels
from merlin_cl.learners.merlin_paper.consolidation import consolidate, consolidate_by_chunks
from merlin_cl.learners.merlin_paper.distribution import WeightDistribution
from merlin_cl.learners.merlin_paper.fitting import Fitting
from merlin_cl.learners.merlin_paper.inference import Inference
from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.learners.probes import figures, relative_error
from merlin_cl.learners.uncertainty import Members
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.protocol import Inference as Mode
from merlin_cl.protocol import StreamInfo, TaskInfo
from merlin_cl.tensors import MASKED, State, as_float, copied


class MerlinPaper(Learner[MerlinPaperSettings]):
    """Meta-Consolidation for Continual Learning (Joseph and Balasubramanian, NeurIPS 2020), line by line.

    Where the text is silent, a choice had to be made; "(code)" marks those that the authors' published code makes too.

    Base models:

    - each starts from weights of its own, drawn as `torch.nn` draws them;
    - takes an arriving example with probability 0.9 (code), and makes one update a batch;
    - has its weight decay as an L2 term in Adam's gradient (code).

    The VAE:

    - psi is all of `state_dict()`, BatchNorm's statistics and counters included (code): only so do the parameter counts come out;
    - a chunk's index is a learned embedding as wide as z (code, and the parameter counts);
    - hidden units are ReLU, outputs are linear, weights start as `torch.nn` draws them, embeddings at N(0, 1);
    - the encoder gives the logarithm of the variance (code);
    - the decoder is a Gaussian of unit variance, so reconstruction costs half the sum of squares;
    - a sampled chunk is the decoder's mean, without that Gaussian's noise (code);
    - the prior's variance is W t + b, starts at 1 for every task, and is kept positive by a floor of 1e-4;
    - every chunk has a z of its own while the VAE learns, all chunks of a model share one when it is sampled (code);
    - chunks come in random order, shuffled for every epoch;
    - AdaGrad starts afresh with every task, and goes on into consolidation (code);
    - the auxiliary loss is that of one generated classifier on each batch as it arrives, a step of its own (code); this comes
      before there are base models to fit, as afterwards the data are gone.

    Consolidation:

    - P is 10 (code), and each pseudo-model has its own z, as those of one z would be the same model.

    Inference:

    - exemplars are a reservoir over the stream, 200 or 400 in all;
    - fine-tuning is 40 epochs of Adam at 1e-3 with decay 1e-3 in batches of 10 (code); classes seen so far compete;
    - of classes with as many votes, that with the higher mean probability wins;
    - a task that is being learned has no prior yet: its base models take the place of sampled ones.

    With `reading` code, what the authors' code does differently takes over (`recipes.py`), as far as it is lawful: it chooses
    pseudo-models by their accuracy on test data and has exemplars from outside the stream; here it does neither.

    Two tasks of Split MNIST, 60 images each:

    >>> from merlin_cl import run
    >>> outcome = run("split-mnist", "merlin-paper", tasks=2, images_per_task=60, settings={"base_models": 2, "models": 3})
    >>> f"{outcome.final_accuracy:.0f} %"
    '95 %'
    """

    inferences = ("aggregate", "aware")

    def __init__(self, stream: StreamInfo, settings: MerlinPaperSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.network = settings.classifier(stream)
        self.memory = ExemplarMemory(
            settings.exemplars, settings.exemplar_choice, stream.input_shape, self.generator("exemplars"), self.device
        )
        self.distribution = WeightDistribution(self.network, settings, stream.tasks, self.generator("distribution"))
        self._inference = Inference(self.network, settings.fine_tune_epochs, self.device, self.phases)
        self._base: BaseModels | None = None  # of the current task; after its end only `probe` looks at them
        self._fitting: Fitting | None = None  # the VAE that learns the current task
        self._ensembles: dict[str, Bank] = {}  # those that have answered since something was learned

    # Algorithm 1

    def _begin(self, task: TaskInfo) -> None:
        self._base, self._fitting = self._beginning(task)
        self._ensembles.clear()

    def _beginning(self, task: TaskInfo) -> tuple[BaseModels, Fitting]:
        """Base models and VAE before they have learned anything of a task, whose vector is the one-hot code of its number."""
        base = BaseModels(self.network, self.settings, self.generator("base", task.index), self.device)
        vector = functional.one_hot(torch.tensor(task.index), self.stream.tasks).float()
        return base, Fitting(self.distribution, vector, self.generator("vae", task.index))

    def _observe(self, x: Tensor, y: Tensor) -> None:
        assert self._base is not None
        assert self._fitting is not None
        with self.phases.timed("base"):
            self._base.learn(x, y, self._competing())  # line 2
        if self.settings.classification_loss:
            with self.phases.timed("vae"):
                loss = self._fitting.learn_to_classify(lambda psi: self._judged(psi, x, y))
                self.phases.note_loss("classification", loss)
        self.memory.offer(x, y, self.tasks[-1].index)
        self._ensembles.clear()

    def _end(self) -> None:
        assert self._base is not None
        assert self._fitting is not None
        settings, distribution, fitting = self.settings, self.distribution, self._fitting
        trained = settings.vae == "trained"
        if trained:
            with self.phases.timed("vae"):
                fitting.learn(distribution.cut(self._base.psi), settings.vae_epochs, self.phases)  # line 3
        distribution.priors.append(fitting.prior)
        if trained:
            with self.phases.timed("consolidate"):  # line 4
                generator = self.generator("consolidation", self.tasks[-1].index)
                if settings.recipe.new_vae:
                    consolidate_by_chunks(fitting, distribution.priors, generator, self.phases)
                else:
                    consolidate(fitting, distribution.priors, settings.pseudo_models, generator, self.phases)
        distribution.vae = fitting.vae
        self._ensembles.clear()

    def _admitted(self) -> None:
        self._ensembles.clear()  # there are more classes to choose among

    def _competing(self) -> Tensor:
        """Outputs that compete in a classifier's loss, bool [classes]."""
        return self._outputs(range(self.stream.classes) if self.settings.recipe.unseen_compete else self.seen)

    def _outputs(self, classes: Iterable[int]) -> Tensor:
        return self._allowed([classes])[0]

    def _judged(self, psi: Tensor, x: Tensor, y: Tensor) -> tuple[float, Tensor]:
        """The loss of a classifier psi [1, P] on a batch, and its gradient [1, P], normalised as in training."""
        met: list[float] = []

        def loss(logits: Tensor) -> Tensor:
            value = functional.cross_entropy(logits[0].masked_fill(~self._competing(), MASKED), y)
            met.append(float(value.detach()))
            return value

        training = Training(Bank(self.network, psi.to(self.device)), learning_rate=0.0)
        slope = training.gradient(as_float(x).unsqueeze(0), loss)
        return met[0], slope.cpu()

    # Algorithm 3

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Mode | None) -> Tensor:
        return vote(self._asked(task, inference).logits(as_float(x)), allowed, self.settings.vote)  # lines 5 and 11

    def _members(self, x: Tensor, task: int | None, inference: Mode | None) -> Members:
        classes = self.tasks[task].classes if inference == "aware" and task is not None else self.seen
        logits = self._asked(task, inference).logits(as_float(x)).masked_fill(~self._outputs(classes), MASKED)
        return Members(logits.softmax(dim=-1), logits.new_full(logits.shape[1::-1], 1 / len(logits)))

    def _asked(self, task: int | None, inference: Mode | None) -> Bank:
        if not self.tasks:
            raise UsageError("No task has been learned yet; begin() the first one before asking for answers.")
        if inference == "aware" and task is None:
            raise UsageError("Task-aware inference needs to be told the task; 'aggregate' does not.")
        return self.ensemble(task if inference == "aware" else None)

    def ensemble(self, task: int | None = None, models: int | None = None) -> Bank:
        """The ensemble of one task or, without one, that of all tasks; `models`: how many, if not E. Of a task that has no prior
        yet there are no more than its base models."""
        key = "all" if task is None else f"task {task}"
        if key not in self._ensembles:
            self._ensembles[key] = self._made(task, self.settings.models)
        ready = self._ensembles[key]
        return ready if models is None else ready.first(models) or self._made(task, models)

    def _made(self, task: int | None, models: int) -> Bank:
        infer, memory, known = self._inference, self.memory, len(self.distribution.priors)
        generator = self._drawing(task)
        with self.phases.timed("infer"):
            if self._base is not None and (task == known or known == 0):  # there is no prior yet
                return self.fine_tuned(Bank(self.network, self._base.psi.clone()), task, generator)
            if task is None:
                return infer.task_agnostic(self.distribution, memory, models, self._competing(), generator)
            return infer.task_aware(self.distribution, memory, task, models, self._competing(), generator)

    def fine_tuned(self, psi: Bank, task: int | None = None, generator: torch.Generator | None = None) -> Bank:
        """Any models after training on all exemplars, or on a task's, as sampled ones are trained: for comparison."""
        x, y = (self.memory.x, self.memory.y) if task is None else self.memory.of_task(task)
        return self._inference.fine_tuned(psi, x, y, self._competing(), generator or self._drawing(task))

    def _drawing(self, task: int | None) -> torch.Generator:
        return self.generator("inference", "all" if task is None else task, len(self.tasks))

    def drawn(self, task: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Latents [count, latent] from a task's prior, and the models [count, P] that they decode to."""
        z = self.distribution.priors[task].sample(generator, count)
        return z, self.distribution.decoded(z)

    def probe(self, task: int, x: Tensor, y: Tensor) -> dict[str, float]:
        """How much of a task the distribution holds, measured without fine-tuning on the task's test data."""
        prior, generator = self.distribution.priors[task], self.generator("probe", task, len(self.tasks))
        sampled = self._inference.sampled(self.distribution, prior, self.settings.models, generator)
        inputs, outputs = as_float(x), self._outputs(self.tasks[task].classes)
        measured = figures("sampled", sampled, inputs, y, outputs)
        last = self._inference.sampled(self.distribution, self.distribution.priors[-1], self.settings.models, generator)
        measured["last_ensemble"] = figures("last", last, inputs, y, outputs)["last_ensemble"]
        if self._base is not None and task == self.tasks[-1].index:
            measured |= figures("base", self._base.bank, inputs, y, outputs)
            measured["relative_error"] = relative_error(sampled.weights, self._base.psi)
        return measured

    # What is kept

    def _state(self) -> State:
        base, fitting = (self._base, self._fitting) if self.learning else (None, None)
        return {
            "memory": self.memory.state(),
            "distribution": self.distribution.state(),
            "base": {} if base is None else base.state(),
            "fitting": {} if fitting is None else fitting.state(),
        }

    def _restore(self, state: State) -> None:
        self.memory.restore(state["memory"])
        on_cpu = torch.device("cpu")  # where the VAE learns, whatever the device
        self.distribution.restore(copied(state["distribution"], on_cpu))
        self._base = self._fitting = None
        self._ensembles.clear()
        if self.learning:
            base, fitting = self._beginning(self.tasks[-1])
            base.restore(state["base"])
            fitting.restore(copied(state["fitting"], on_cpu))
            self._base, self._fitting = base, fitting

    def stored_bytes(self) -> dict[str, int]:
        """Exemplars, meta-model and priors."""
        return {"exemplars": self.memory.stored_bytes, **self.distribution.stored_bytes()}

    def parameters(self) -> dict[str, int]:
        """Weights of one classifier and parameters of the VAE."""
        return {"classifier": self.network.size, "meta_model": self.distribution.vae.parameters}
