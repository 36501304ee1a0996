"""The page over HTTP, to this machine alone: it binds to loopback and answers only who asks for it by that name.

A connection has a thread while it is answered, and there is a limit to both: one that does not say what it wants is closed when
its time is up, or as soon as another needs its place.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from merlin_cl.errors import UsageError
from merlin_cl.report.page.render import policy
from merlin_cl.report.watch import Watch

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
CONNECTIONS = 32
"""At once, each with a thread."""
ASKING = 5.0
"""Seconds that a connection may take to say what it wants."""
ANSWERING = 30.0
"""Seconds that it may take to receive the answer."""
SAFE = {
    "Content-Security-Policy": f"{policy(live=True)}; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""Headers of every answer."""


class WatchServer(ThreadingHTTPServer):
    """Serves a watch to several viewers."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, watch: Watch, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.watch = watch
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[socket.socket, float | None] = {}
        """Connections and until when each may ask; None: it has asked and is being answered."""
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise UsageError(f"Port {port} cannot be used ({error.strerror}); choose another with --port.") from None
        except OverflowError:
            raise UsageError(f"Port {port} does not exist; choose one from 1024 to 65535 with --port.") from None

    @property
    def url(self) -> str:
        """The address to open."""
        return f"http://{HOST}:{self.server_port}/"

    @property
    def connections(self) -> int:
        """How many there are."""
        return len(self._open)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Take a connection if there is a place for it: the one that has been silent longest gives up its own."""
        with self._lock:
            if len(self._open) >= CONNECTIONS:
                asking = {one: until for one, until in self._open.items() if until is not None}
                if not asking:
                    return False
                self._drop(min(asking, key=asking.__getitem__))
            self._open[request] = self._clock() + ASKING
        return True

    def service_actions(self) -> None:
        """Close connections whose time is up; called between one connection and the next, twice a second at least."""
        now = self._clock()
        with self._lock:
            for one in [one for one, until in self._open.items() if until is not None and until < now]:
                self._drop(one)

    def asked(self, request: Any) -> bool:
        """A connection has said what it wants; False where it was too late."""
        with self._lock:
            if request not in self._open:
                return False
            self._open[request] = None
            return True

    def shutdown_request(self, request: Any) -> None:
        """Close a connection and give its place away."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """One line, not a traceback: viewers come and go as they like."""
        error = sys.exception()
        if not isinstance(error, OSError):
            print(f"A request could not be answered: {type(error).__name__}: {error}", file=sys.stderr)

    def _drop(self, one: socket.socket) -> None:
        """Have the thread of a connection find it ended; the place is free at once."""
        del self._open[one]
        with suppress(OSError):  # it may have gone by itself
            one.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: WatchServer
    default_request_version = "HTTP/1.0"  # so that even what is no request is answered with headers
    timeout = ANSWERING  # the server itself lets those go sooner who do not ask

    def do_GET(self) -> None:
        """Answer with the page, with progress, or with new results."""
        if not self.server.asked(self.request):
            self.close_connection = True
            return
        # A page of somebody else's that had its own name point here must not be able to read results.
        if self.headers.get("Host", "").rpartition(":")[0] not in NAMES:
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", f"Open {self.server.url} instead.".encode())
            return
        try:
            self._answer(HTTPStatus.OK, *self._found())
        except LookupError:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"There is nothing here; open / instead.")

    def _found(self) -> tuple[str, bytes]:
        """What is asked for, as its type and its content; LookupError where there is no such thing."""
        watch = self.server.watch
        match self.path.partition("?")[0]:
            case "/":
                return "text/html; charset=utf-8", watch.page().encode()
            case "/live":
                return "application/json", json.dumps(watch.live()).encode()
            case "/fragment":
                return "application/json", json.dumps(watch.fragment()).encode()
        raise LookupError(self.path)

    def end_headers(self) -> None:
        """Add what every answer has, errors too."""
        for name, value in SAFE.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a page that asks every two seconds would fill the terminal."""

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # the viewer has gone, or does not take what it asked for
