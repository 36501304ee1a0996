"""Fitting the VAE of the paper's size on the same chunks, many at a time against one at a time."""

import dataclasses

import torch
from rich.console import Console

from merlin_cl.bench.timing import compare
from merlin_cl.learners.merlin.consolidation import learn_by_chunks
from merlin_cl.learners.merlin.distribution import WeightDistribution
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.phases import Phases
from merlin_cl.networks.mlp import MLP
from merlin_cl.protocol import StreamInfo

STREAM = StreamInfo("split-mnist", (1, 28, 28), 10, 5)


def measure() -> None:
    """Print the ratio for one pass over one model's 299 chunks."""
    network, generator = MLP(STREAM.input_shape, STREAM.classes), torch.Generator().manual_seed(0)
    psi, task = network.initial(1, generator), torch.eye(STREAM.tasks)[0]
    paper = dataclasses.replace(MerlinSettings.preset("paper", STREAM), vae_epochs=1)
    distribution = WeightDistribution(network, torch.zeros(network.size), paper, STREAM.tasks, generator)

    def fit(chunks: int) -> None:
        learn_by_chunks(distribution, psi, task, dataclasses.replace(paper, vae_batch=chunks), generator, Phases())

    taken = compare({"one": lambda: fit(1), "all": lambda: fit(distribution.code.count)}, seconds=5, warm_up=1)
    console = Console()
    console.print("[bold]VAE on chunks[/bold] (the paper's size, 299 chunks of one model, one thread)")
    console.print(
        f"all at once is {taken['one'] / taken['all']:.0f}x as fast as one chunk at a time "
        f"({1e3 * taken['one']:.0f} / {1e3 * taken['all']:.1f} ms a pass)\n"
    )
