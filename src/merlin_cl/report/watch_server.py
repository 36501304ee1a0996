"""The page over HTTP, to this machine alone: it binds to loopback and answers only who asks for it by that name."""

from __future__ import annotations

import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from merlin_cl.errors import UsageError
from merlin_cl.report.watch import Watch

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")


class WatchServer(ThreadingHTTPServer):
    """Serves a watch; every viewer has a thread."""

    daemon_threads = True

    def __init__(self, watch: Watch, port: int) -> None:
        self.watch = watch
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


class _Handler(BaseHTTPRequestHandler):
    server: WatchServer

    def do_GET(self) -> None:
        """Answer with the page, with progress, or with new results."""
        # A page of somebody else's that had its own name point here must not be able to read results.
        if self.headers.get("Host", "").rpartition(":")[0] not in NAMES:
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", f"Open {self.server.url} instead.".encode())
            return
        watch = self.server.watch
        match self.path.partition("?")[0]:
            case "/":
                self._answer(HTTPStatus.OK, "text/html; charset=utf-8", watch.page().encode())
            case "/live":
                self._json(watch.live())
            case "/fragment":
                self._json(watch.fragment())
            case _:
                self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"There is nothing here; open / instead.")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a page that asks every two seconds would fill the terminal."""

    def _json(self, value: Any) -> None:
        self._answer(HTTPStatus.OK, "application/json", json.dumps(value).encode())

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the viewer has gone
