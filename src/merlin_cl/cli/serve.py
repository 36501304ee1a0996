"""`merlin serve`: a saved learner that answers and learns over HTTP."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from merlin_cl.cli.options import option_names, parse
from merlin_cl.errors import UsageError


@dataclass(frozen=True)
class ServeOptions:
    """Which model, where it is reached, and what it bears."""

    model: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="MODEL")]
    """A saved learner, or the folder of a run that has ended; it stays as it is."""
    state: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Where journal and versions are kept; MODEL.serve, beside the model, unless told otherwise."""
    host: str = "127.0.0.1"
    """The address to listen at; at any but this machine's own, all that tells or changes the model needs the token."""
    port: int = 8478
    """The port; 0: any that is free."""
    token_file: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """A file with the token that changes the model; unless given, one is made up and kept in the state folder."""
    keep: int = 10
    """Versions that can be gone back to."""
    most_inputs: int = 1000
    """Inputs in a request."""
    most_bytes: int = 16_000_000
    """Bytes of a request."""
    most_waiting: int = 10_000
    """Examples that may wait to be learned; more are refused for a while."""
    rate: float = 5000.0
    """Requests a second from one address."""
    seconds: float = 10.0
    """Seconds that a request may take to arrive, and an answer to be given."""
    network: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """A network of your own (package.module:factory), if the learner has one: naming it here says that you trust it."""
    features: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """The features that the learner learned from, if it did: a name, an .onnx file or package.module:factory, which you trust."""
    device: Annotated[str, tyro.conf.arg(metavar="NAME")] = "cpu"
    """Where to compute: cpu, cuda, cuda:1, mps."""


def main(argv: list[str]) -> None:
    """Run the command."""
    about = "Answer and learn over HTTP: what is acknowledged is on disk and learned once; Ctrl-C saves and ends."
    options = parse(ServeOptions, argv, "serve", about, option_names(ServeOptions))
    _require_positive(options)
    from merlin_cl.runs.model_file import path_of_model

    model = path_of_model(options.model.expanduser())
    if importlib.util.find_spec("uvicorn") is None or importlib.util.find_spec("starlette") is None:
        raise UsageError("merlin serve needs starlette and uvicorn; install them: pip install 'merlin-cl[serve]'.")
    from merlin_cl.serving.limits import Limits
    from merlin_cl.serving.server import BACKLOG, address, is_loopback, listening, serve, token_in
    from merlin_cl.serving.service import Service, state_folder

    state = (options.state or state_folder(model)).expanduser()
    if options.token_file is not None:
        token_in(state, options.token_file)  # before anything is loaded
    with listening(options.host, options.port) as bound:
        service = Service(
            model,
            state,
            network=options.network,
            features=options.features,
            device=options.device,
            keep=options.keep,
            most_waiting=options.most_waiting,
        )
        token, file = token_in(state, options.token_file)
        limits = Limits(options.most_inputs, options.most_bytes, options.rate, options.seconds)
        bound.listen(BACKLOG)  # whoever comes from now on is answered as soon as there is somebody to do so
        print(address(bound, options.host), flush=True)
        print(
            f"Version {service.model.applied} answers; the token that changes the model is in {file}.\n"
            "The address shows a dashboard, /docs how to call it; Ctrl-C saves and ends.",
            file=sys.stderr,
            flush=True,
        )
        if not is_loopback(options.host):
            print("Anybody who reaches this address can try; put a proxy with TLS in front of it.", file=sys.stderr)
        serve(service, bound, token, limits, options.host)
    print(f"The newest version is {service.model.path(service.saved)}.", file=sys.stderr)


def _require_positive(options: ServeOptions) -> None:
    for name in ("keep", "most_inputs", "most_bytes", "most_waiting", "rate", "seconds"):
        value = getattr(options, name)
        if not value > 0:
            raise UsageError(f"--{name.replace('_', '-')} is {value}; give a number above 0.")
