"""A service on a socket, from start to stop."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
from pathlib import Path

import torch
import uvicorn

from merlin_cl.errors import UsageError
from merlin_cl.serving.app import LOOPBACK, application
from merlin_cl.serving.limits import Limits
from merlin_cl.serving.service import Service

CONNECTIONS = 256
"""At once; more are told to come again."""
BACKLOG = 128
"""Connections that wait to be taken."""
SWITCHING = 0.0005
"""Seconds after which a thread that computes lets another one have its turn: answers are short, learning is long."""


def token_in(state: Path, file: Path | None) -> tuple[str, Path]:
    """The token and the file that it is in: the user's own, or one that is made up once and kept, for its owner's eyes alone."""
    if file is not None:
        try:
            token = file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"The token cannot be read from {file} ({error}); give a text file with one line."
            ) from None
        if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
            raise UsageError(f"{file} holds no token; put at least 16 letters and digits there, without spaces.")
        return token, file
    file = state / "token"
    if not file.exists():
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as new:
            new.write(secrets.token_urlsafe(32) + "\n")
    return token_in(state, file)


def listening(host: str, port: int) -> socket.socket:
    """A socket that is bound, so that an address which cannot be used is refused before anything is loaded."""
    if not 0 <= port <= 65535:
        raise UsageError(f"Port {port} does not exist; choose one from 1024 to 65535 with --port, or 0 for any.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"{host} port {port} cannot be used ({error}); choose others with --host and --port."
        ) from None
    return bound


def serve(service: Service, bound: socket.socket, token: str, limits: Limits, host: str) -> None:
    """Answer until told to end (Ctrl-C, SIGTERM); what was learned is a version then."""
    torch.set_num_threads(1)  # the threads that answer and learn are enough for two cores
    sys.setswitchinterval(SWITCHING)
    config = uvicorn.Config(
        application(service, token, limits, host),
        log_level="warning",
        access_log=False,
        limit_concurrency=CONNECTIONS,
        backlog=BACKLOG,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
        server_header=False,
        lifespan="on",
        ws="none",
    )
    server = uvicorn.Server(config)
    # The server ends in order at either signal and then sends it once more, to whoever had it before.
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[bound])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def address(bound: socket.socket, host: str) -> str:
    """What to open."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{bound.getsockname()[1]}/"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    return host in LOOPBACK
