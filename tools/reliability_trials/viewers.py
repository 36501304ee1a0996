"""Connections to `merlin watch` that begin to ask and do not go on: they hold few threads, and keep nobody out."""

import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from merlin_cl.report.watch import Watch
from merlin_cl.report.watch_server import CONNECTIONS, HOST, WatchServer
from reliability_trials.processes import PATIENCE


def outcomes(start: int, stop: int, scratch: Path) -> Iterator[str | None]:
    """One for each connection; all are kept until the last."""
    with ExitStack() as stack, WatchServer(Watch([scratch / "runs"]), 0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        stack.callback(server.shutdown)
        for number in range(start, stop):
            slow = stack.enter_context(socket.create_connection((HOST, server.server_port), timeout=PATIENCE))
            slow.sendall(b"GET / HTTP/1.1\r\nHost: 127")
            yield _held(server) or (_kept_out(server) if number % 10 == 9 else None)


def _held(server: WatchServer) -> str | None:
    """What is wrong with the threads; those of connections that were let go may take a moment to end."""
    given_up = time.monotonic() + PATIENCE
    while (threads := sum("process_request_thread" in each.name for each in threading.enumerate())) > CONNECTIONS:
        if time.monotonic() > given_up:
            return f"{threads} threads are held"
        time.sleep(0.01)
    return None if server.connections <= CONNECTIONS else f"{server.connections} connections are open"


def _kept_out(server: WatchServer) -> str | None:
    try:
        with urllib.request.urlopen(server.url, timeout=PATIENCE) as answer:
            return None if answer.status == 200 and answer.read() else f"who asks properly gets {answer.status}"
    except OSError as error:
        return f"who asks properly is kept out: {error}"
