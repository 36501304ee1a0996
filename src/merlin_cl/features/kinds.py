"""What may compute features, each brought to one form: a function from a batch of inputs to numbers [n, features]."""

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from merlin_cl.errors import InputError, MerlinError, UsageError
from merlin_cl.features.cache import Raw
from merlin_cl.features.checksum import checksum, file_checksum

Compute = Callable[[Raw], Any]
"""Features of a batch: anything that becomes an array [n, ...]."""
KINDS = (
    "a torch.nn.Module, a function, a fitted scikit-learn transformer, an object with `encode`, the path of an .onnx file, or a "
    "name"
)


def computer(source: Any, device: str) -> tuple[Compute, str]:
    """What computes features by means of `source`, and its checksum."""
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        if not path.is_file():
            raise UsageError(f"The file {path} with features is not there; give the path of an .onnx file.")
        return _of_onnx(path), file_checksum(path)
    if isinstance(source, type):
        raise UsageError(
            f"features is the class {source.__name__}; give an object of it, as in features={source.__name__}()."
        )
    if hasattr(source, "encode") and not isinstance(source, str):
        return partial(_encoded, source), checksum(source)
    if isinstance(source, nn.Module):
        return partial(_by_module, source.to(device), device), checksum(source)
    if hasattr(source, "transform"):
        return partial(_transformed, source), checksum(source)
    if callable(source):
        return partial(_called, source), checksum(source)
    raise UsageError(f"features is {source!r:.200}; give {KINDS}.")


def title(source: Any) -> str:
    """What to call a source that nobody has named: the name of its file, function or class."""
    if isinstance(source, str | Path):
        return Path(source).name
    return str(getattr(source, "__qualname__", None) or type(source).__qualname__)


def _by_module(module: nn.Module, device: str, inputs: Raw) -> Tensor:
    """A module sees bytes as numbers from 0 to 1, and runs as it would in use, whatever mode it is in."""
    if not isinstance(inputs, Tensor):
        raise InputError(
            f"The inputs are texts, and {title(module)} is a module, which takes numbers; give a sentence encoder as features, "
            "such as 'minilm'."
        )
    x = inputs.to(device)
    x = x.float() / 255 if x.dtype == torch.uint8 else x.float()
    learning = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with torch.inference_mode():
            output: Any = module(x)
    finally:
        for part in learning:
            part.training = True
    if not isinstance(output, Tensor):
        raise UsageError(
            f"{title(module)} gives a {type(output).__name__}; features are one tensor: give a function that picks it out, as in "
            "lambda x: module(x)['pooled']."
        )
    return output.cpu()


def _transformed(transformer: Any, inputs: Raw) -> Any:
    from sklearn.exceptions import NotFittedError

    batch = _rows(inputs) if isinstance(inputs, Tensor) else list(inputs)
    try:
        features = transformer.transform(batch)
    except NotFittedError:
        raise UsageError(
            f"The transformer {title(transformer)} has not been fitted; fit it to training data first, and if scikit-learn is to "
            "clone it, wrap it in sklearn.frozen.FrozenEstimator."
        ) from None
    return features.toarray() if hasattr(features, "toarray") else features


def _called(function: Callable[..., Any], inputs: Raw) -> Any:
    features = function(inputs.numpy() if isinstance(inputs, Tensor) else list(inputs))
    return features.toarray() if hasattr(features, "toarray") else features


def _encoded(encoder: Any, inputs: Raw) -> Any:
    """A sentence encoder, as sentence-transformers has them."""
    if isinstance(inputs, Tensor):
        raise InputError(f"The inputs are numbers, and {title(encoder)} encodes texts; give texts.")
    return encoder.encode(list(inputs))


def _of_onnx(path: Path) -> Compute:
    try:
        runtime = importlib.import_module("onnxruntime")
    except ImportError:
        raise MerlinError(
            f"{path} is run by onnxruntime, which is not installed; `pip install merlin-cl[onnx]` brings it."
        ) from None
    settings = runtime.SessionOptions()
    settings.intra_op_num_threads = torch.get_num_threads()
    settings.log_severity_level = 4  # what goes wrong is said here
    try:
        session = runtime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a dozen classes of errors for a file that it cannot run
        raise InputError(f"{path} cannot be run as ONNX ({_first_line(error)}); export it again.") from None
    given = session.get_inputs()
    if len(given) != 1:
        names = ", ".join(one.name for one in given)
        raise UsageError(f"{path} takes {len(given)} inputs ({names}); features need a graph with one.")
    return partial(_by_graph, session, given[0].name, given[0].type, path)


TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
    "tensor(string)": np.object_,
}
"""What a graph may take, by ONNX's names."""


def _by_graph(session: Any, name: str, kind: str, path: Path, inputs: Raw) -> Any:
    """The first output of a graph. One that takes floats sees bytes as numbers from 0 to 1."""
    if kind not in TYPES:
        raise UsageError(f"{path} takes {kind}; features need a graph that takes {', '.join(TYPES)}.")
    if isinstance(inputs, Tensor) == (kind == "tensor(string)"):
        wanted, given = ("texts", "numbers") if kind == "tensor(string)" else ("numbers", "texts")
        raise InputError(f"{path} takes {wanted}, and the inputs are {given}; give the others.")
    if isinstance(inputs, Tensor):
        x = inputs.float() / 255 if inputs.dtype == torch.uint8 and kind != "tensor(uint8)" else inputs
        batch = x.numpy().astype(TYPES[kind])
    else:
        batch = np.array(list(inputs), dtype=object)
    try:
        return session.run(None, {name: batch})[0]
    except Exception as error:
        raise InputError(
            f"{path} cannot take inputs of shape {list(batch.shape)} ({_first_line(error)}); give inputs of its shape, and "
            "export it with a number of inputs that may vary."
        ) from None


def _rows(inputs: Tensor) -> np.ndarray[Any, Any]:
    """Inputs as the rows of a table, which is what scikit-learn's transformers take."""
    return np.asarray(inputs.flatten(1).numpy())


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(".")
