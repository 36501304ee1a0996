"""Modules as files that other programs run: torch.export's .pt2, and .onnx."""

import importlib
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from merlin_cl.errors import MerlinError, UsageError

LARGEST_BATCH = 2**31
CLASSES = "classes"
"""Under this name the labels, in the order of the probabilities, go with the file: as JSON."""


def export(module: nn.Module, example: Tensor, path: Path, classes: list[Any]) -> Path:
    """Write a module from inputs [N, ...] to probabilities [N, classes], any N, as the name of the file says."""
    writers = {".pt2": _write_torch, ".onnx": _write_onnx}
    if path.suffix not in writers:
        raise UsageError(f"{path} ends in {path.suffix or 'nothing'!r}; give a name that ends in .pt2 or .onnx.")
    if path.suffix == ".onnx":
        _require_onnx()
    if not path.parent.is_dir():
        raise MerlinError(f"Cannot write {path}, as its folder is not there; choose another place.")
    # Of three inputs: what a program is traced with must not look like a case of its own, as one or none would.
    inputs = example.expand(3, *example.shape[1:]).clone()
    temporary = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        with _quiet():
            batch = torch.export.Dim("batch", max=LARGEST_BATCH)
            program = torch.export.export(module.eval(), (inputs,), dynamic_shapes=({0: batch},))
            writers[path.suffix](program, temporary, json.dumps(classes))
        temporary.replace(path)
    except OSError as error:
        raise MerlinError(f"Cannot write {path} ({error.strerror}); choose another place.") from None
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _write_torch(program: Any, path: Path, classes: str) -> None:
    torch.export.save(program, path, extra_files={CLASSES: classes})


def _write_onnx(program: Any, path: Path, classes: str) -> None:
    written = torch.onnx.export(
        program, input_names=["x"], output_names=["probabilities"], dynamo=True, verbose=False, external_data=False
    )
    assert written is not None
    written.model.metadata_props[CLASSES] = classes
    written.save(path)


def _require_onnx() -> None:
    for name in ("onnx", "onnxscript"):
        try:
            importlib.import_module(name)
        except ImportError:
            raise MerlinError(
                f"Export to ONNX needs {name}, which is not installed; `pip install merlin-cl[onnx]` brings it."
            ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to itself what exporters say of themselves: deprecations within torch, packages that they could also use."""
    loggers = {logger: logger.level for logger in map(logging.getLogger, ("torch.onnx", "onnx_ir"))}
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, before in loggers.items():
            logger.setLevel(before)
