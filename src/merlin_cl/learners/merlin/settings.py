"""MERLIN's settings. Free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from merlin_cl.errors import UsageError
from merlin_cl.learners.ensemble_settings import EnsembleSettings, large_images
from merlin_cl.protocol import StreamInfo

if TYPE_CHECKING:
    from merlin_cl.networks.network import Network

Layout = Literal["in-out", "out-in"]
Summary = Literal["central", "mean"]


@dataclass(frozen=True)
class MerlinSettings(EnsembleSettings):
    """A VAE learns the distribution of the weights of small classifiers, task by task, and answers with sampled ones.

    The preset `paper` is the method `merlin-paper`: the paper's recipe as printed.
    """

    method: ClassVar[str] = "merlin"
    learner: ClassVar[str] = "merlin_cl.learners.merlin.learner:Merlin"
    moved_presets: ClassVar[Mapping[str, str]] = {"paper": "merlin-paper"}

    # Base models
    base_models: int = 10
    """Models that learn each task (B)."""
    sampling: Literal["bernoulli", "poisson"] = "bernoulli"
    """How a base model takes an arriving example: at most once, or a Poisson number of times."""
    sampling_rate: float = 0.9
    """The probability, or the mean number of times."""
    updates_per_batch: int = 3
    """Gradient steps on each arriving batch."""
    learning_rate: float = 2e-3
    """Adam's learning rate for base models."""
    weight_decay: float = 0.0
    """Weight decay of base models."""
    decoupled_decay: bool = True
    """Decoupled weight decay (AdamW) rather than an L2 term in the gradient."""
    averaging: float = 0.97
    """A base model is the running mean of its weights over batches with this decay; 0: its weights after the last batch."""
    base_classes: Literal["task", "seen"] = "seen"
    """Classes that base models choose among: those of their own task, or all seen so far."""
    replay: int = 30
    """Exemplars of earlier tasks that each base model sees again with every arriving batch. They teach it to tell its task
    from earlier ones, which `marginal` inference uses. Where tasks share their classes, they do so as one more class of
    strangers."""
    rehearse: int = 30
    """Exemplars of its own task that each base model sees again with every arriving batch."""
    start: Literal["psi_0", "consolidated"] = "psi_0"
    """Where the base models of a task start: from psi_0, or from models sampled for the task before (forward transfer)."""

    # What a task is called
    descriptor: Literal["one-hot", "words", "task2vec"] = "one-hot"
    """The task vector that the prior is a function of, unless the stream gives one: `one-hot`, the mean word vector of the
    class names (`words`), or an embedding that the learner computes from the task's exemplars (`task2vec`)."""
    words: str = ""
    """A file of word vectors in GloVe's text format (words): a path, or its name in a data folder; without it a usual one."""

    # What the VAE models
    code: Literal["offsets", "weights"] = "offsets"
    """`offsets`: base models start from one shared psi_0 and the VAE models psi - psi_0. `weights`: each starts afresh."""
    layout: Layout = "in-out"
    """Order in which matrices are cut into chunks: along one input's outgoing weights, or torch's own order."""
    chunk: int = 300
    """Weights in a chunk."""
    statistics: Literal["re-estimated", "decoded"] = "re-estimated"
    """Batch normalisation's running statistics: computed anew on the exemplars, or part of what the VAE models."""
    scale_chunks: bool = True
    """Divide each chunk by its root mean square over the models at hand."""

    # The VAE
    vae: Literal["trained", "untrained"] = "trained"
    """`untrained`: left as it was drawn, so that exemplars alone teach the sampled models (the paper's ablation)."""
    decoder: Literal["factors", "chunks"] = "factors"
    """`factors`: a sum of low-rank bases weighted by z; `chunks`: the paper's network from z and a chunk's position."""
    rank: int = 0
    """Rank of the bases' matrices (factors); 0: the largest, up to 48, with which all takes no more bytes than one classifier;
    below 24, all entries of the matrices in as many values as the bytes allow (`int4`)."""
    precision: Literal["float32", "float16", "int8", "int4"] = "int4"
    """Precision in which the VAE is kept between tasks: bases in this one (`int4`: their leading sixth in 8 bits), all smaller
    parts in 16 bits at least."""
    summary: Summary = "central"
    """What a task's base is made of (factors): the most central of its base models, or their mean, unless they went quite
    different ways."""
    latent_per: Literal["model", "chunk"] = "model"
    """One latent z for a whole model, or one for each chunk."""
    latent: int = 0
    """Width of z; 0: one base for every task expected (factors)."""
    hidden: int = 20
    """Hidden units of the encoder (and of the decoder of chunks)."""
    embedding: int = 32
    """Width of the chunk embedding (chunks)."""
    prior: Literal["learned", "standard-normal"] = "learned"
    """The latent prior: learned for each task, or N(0, 1) for all (the paper's ablation)."""

    # Fitting it
    vae_optimiser: Literal["adam", "adagrad"] = "adam"
    """Adam's rate falls linearly to zero over a task; AdaGrad's is constant."""
    vae_rate: float = 1e-2
    """Learning rate of the VAE."""
    vae_steps: int = 60
    """Steps of the VAE on a task (Adam)."""
    vae_chunks: int = 0
    """Chunks that take part in a step (Adam); 0: all."""
    vae_batch: int = 4
    """Base models (Adam) or chunks (AdaGrad) in a step."""
    vae_epochs: int = 25
    """Passes over the base models' chunks (AdaGrad)."""
    kl_weight: float = 500.0
    """Weight of the KL term; 1 is the plain bound for weights with a standard deviation of one scaled unit."""
    classification_loss: float = 0.0
    """Weight of the appendix's auxiliary loss: that of generated classifiers on the task's exemplars."""

    # Consolidation
    consolidation: Literal["joint", "after", "off"] = "joint"
    """`joint`: fit the new task and replay old ones together; `after`: Algorithm 2 as printed; `off`: no replay."""
    pseudo_models: int = 1
    """Models generated of each old task for each step of consolidation (P)."""

    # Inference
    task_models: int = 5
    """Models sampled for each task (`aware` and `marginal`), at most E: those of one task differ little."""
    aware_epochs: int = 0
    """Passes over a task's own exemplars before its models answer (`aware` and `marginal`)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "base_models", "updates_per_batch", "chunk", "hidden", "embedding")
        self.require_at_least(1, "vae_steps", "vae_batch", "vae_epochs", "pseudo_models", "task_models")
        self.require_at_least(
            0, "learning_rate", "weight_decay", "averaging", "replay", "rehearse", "latent", "vae_rate", "vae_chunks"
        )
        self.require_at_least(0, "rank", "kl_weight", "classification_loss", "aware_epochs")
        if not self.sampling_rate > 0 or (self.sampling == "bernoulli" and self.sampling_rate > 1):
            raise UsageError(f"sampling_rate is {self.sampling_rate}; it must be above 0, and at most 1 for bernoulli.")
        if self.words and self.descriptor != "words":
            raise UsageError(
                f"words is {self.words!r}, but descriptor is {self.descriptor}; use descriptor words with it."
            )
        if self.start == "consolidated" and self.code != "offsets":
            raise UsageError("start consolidated needs code offsets: without it, base models start anywhere.")
        if self.averaging >= 1:
            raise UsageError(f"averaging is {self.averaging}; it must be below 1.")
        whole = self.latent_per == "model" and self.layout == "in-out" and self.statistics == "re-estimated"
        if self.decoder == "factors" and not whole:
            raise UsageError("decoder factors needs latent_per model, layout in-out and statistics re-estimated.")
        if self.decoder == "factors" and self.prior == "standard-normal":
            raise UsageError(
                "prior standard-normal needs decoder chunks: bases start at zero, both factors of each, and only a learned prior "
                "gives a task a base, so that nothing would be learned."
            )
        if self.decoder == "chunks" and self.latent == 0:
            raise UsageError("decoder chunks needs to be told the width of the latent, as in latent 16.")
        if self.vae_optimiser == "adagrad" and (self.latent_per != "chunk" or self.consolidation == "joint"):
            raise UsageError("vae_optimiser adagrad needs latent_per chunk and consolidation after or off.")

    @classmethod
    def preset(cls, name: str, stream: StreamInfo) -> Self:
        """The settings a preset stands for on a stream."""
        settings = super().preset(name, stream)  # the name is checked, the budget set
        if stream.domain_incremental:
            return replace(settings, updates_per_batch=10, sampling_rate=0.99, replay=5)
        if large_images(stream):
            return replace(
                settings,
                base_models=1,
                sampling_rate=1.0,  # leaving examples out is for models that are to differ
                updates_per_batch=10,
                replay=10,
                rehearse=10,
                start="consolidated",
                fine_tune_epochs=10,
                task_models=1,
            )
        return settings

    def located(self) -> Self:
        """With the full path of the file of word vectors, unless it is a name to look for in a data folder."""
        path = Path(self.words).expanduser()
        return replace(self, words=str(path.resolve())) if self.words and path.exists() else self

    def classifier(self, stream: StreamInfo) -> Network:
        """The network for a stream; where tasks share their classes and are to be told apart, with an output for strangers."""
        stranger = stream.domain_incremental and self.replay > 0
        return super().classifier(replace(stream, classes=stream.classes + stranger))
