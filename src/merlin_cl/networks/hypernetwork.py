"""A network whose outputs are the weights of another, one set for each task, chunk by chunk."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from merlin_cl.networks.mlp import linear
from merlin_cl.networks.network import BatchUse, Network, RowModule, Weight


class Hypernetwork(Network):
    """(task embedding, chunk embedding) - hidden - chunk of weights, with ReLU; embeddings are learned as well.

    An input is a task vector (one-hot, or a mixture); an output, [P of the target], all chunks in a row. What a chunk's outputs
    are scaled to is what the target's weights are drawn from, so that generated networks begin as drawn ones do.
    """

    def __init__(self, target: Network, tasks: int, chunk: int, embedding: int, hidden: int) -> None:
        self.input_shape = (tasks,)
        self.classes = target.learned
        self.chunks, self.chunk = math.ceil(target.learned / chunk), chunk
        self.embedding, self.hidden = embedding, hidden
        drawn = target.initial(1, torch.Generator().manual_seed(0))
        places = [
            (view.mean().expand_as(view), view.std(correction=0).expand_as(view))
            for view in target.views(drawn).values()
        ]
        self.centre, self.scale = (
            torch.cat([part.flatten() for part in parts])[: self.classes] for parts in zip(*places, strict=True)
        )

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Embeddings, then weight [in, out] and bias [out] of the two layers."""
        return {
            "tasks": (*self.input_shape, self.embedding),
            "chunks": (self.chunks, self.embedding),
            "first.weight": (2 * self.embedding, self.hidden),
            "first.bias": (self.hidden,),
            "last.weight": (self.hidden, self.chunk),
            "last.bias": (self.chunk,),
        }

    def initial(self, members: int, generator: torch.Generator) -> Tensor:
        """Standard normal embeddings; layers such that outputs have variance one."""
        flat = torch.randn(members, self.size, generator=generator)
        views = self.views(flat)
        views["first.weight"] /= math.sqrt(self.embedding)  # ReLU halves the variance of 2 * embedding inputs
        views["last.weight"] /= math.sqrt(self.hidden)
        views["first.bias"].zero_()
        views["last.bias"].zero_()
        return flat

    def forward(self, weights: Mapping[str, Weight], x: Tensor, batch: BatchUse | None = None) -> Tensor:
        """Weights [M, N, P of the target] for task vectors x [M, N, tasks]."""
        members, count, _ = x.shape
        of_tasks = (
            (x @ weights["tasks"].value).unsqueeze(2).expand(-1, -1, self.chunks, -1)
        )  # [M, N, chunks, embedding]
        of_chunks = weights["chunks"].value.unsqueeze(1).expand(-1, count, -1, -1)
        inputs = torch.cat([of_tasks, of_chunks], dim=3).flatten(1, 2)  # [M, N * chunks, 2 * embedding]
        hidden = linear(inputs, weights["first.weight"], weights["first.bias"]).relu()
        outputs = linear(hidden, weights["last.weight"], weights["last.bias"])  # [M, N * chunks, chunk]
        generated = outputs.view(members, count, -1)[:, :, : self.classes]
        return self.centre.to(generated) + self.scale.to(generated) * generated

    def module(self, row: Tensor) -> nn.Module:
        """One member."""
        return RowModule(self, row)
