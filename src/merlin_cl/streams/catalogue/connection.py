"""The answer of a mirror: begun in time, over the scheme that was asked for, whatever the mirror wants."""

import http.client
import queue
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from typing import IO, Any
from urllib.parse import urlsplit


class BrokenOffError(Exception):
    """The mirror failed half-way; trying it again may help."""


class RefusedError(Exception):
    """The mirror does not have the file; trying it again will not help."""


class NothingMissingError(Exception):
    """The mirror says that the file ends where we want to go on. The checksum will tell whether it does."""


@dataclass(frozen=True)
class Patience:
    """How long a mirror is borne with."""

    answer: float = 60.0
    """Seconds until its answer begins."""
    silence: float = 30.0
    """Seconds between one byte and the next."""
    floor: float = 10_000.0
    """Bytes a second, below which it is given up."""
    window: float = 60.0
    """Seconds over which that speed is measured."""
    limit: float = 6 * 3600.0
    """Seconds for one file."""
    attempts: int = 5
    """How often one that breaks off is tried."""
    pause: float = 1.0
    """Seconds before another attempt."""
    clock: Callable[[], float] = time.monotonic


def answer(url: str, start: int, patience: Patience) -> http.client.HTTPResponse:
    """Ask for a file from the byte `start` on."""
    headers = {"User-Agent": "merlin-cl", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        request = urllib.request.Request(url, headers=headers)
        return _within(patience.answer, lambda: _opener().open(request, timeout=patience.silence))
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and start:
            raise NothingMissingError from None
        kind = BrokenOffError if error.code >= 500 else RefusedError
        raise kind(f"answered {error.code} ({shown(error.reason)})") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise RefusedError(f"cannot be reached ({reason(error)})") from None


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Goes where a mirror sends us only by the scheme that was asked for: https never becomes http."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        before, after = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if before != after:
            fp.close()
            raise RefusedError(f"sends us on from {before} to {shown(after) or 'nowhere'}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def _opener() -> urllib.request.OpenerDirector:
    """Opens http, https and local files; no other scheme is known."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.FileHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _SameScheme(),
    ):
        opener.add_handler(handler)
    return opener


def _within(seconds: float, ask: Callable[[], Any]) -> http.client.HTTPResponse:
    """What `ask` gives, if it does so in time: a socket's own time-out begins anew with every byte."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    late = threading.Event()

    def work() -> None:
        try:
            outcome = ask()
        except BaseException as error:
            outcome = error
        if late.is_set() and hasattr(outcome, "close"):
            outcome.close()
        answers.put(outcome)

    threading.Thread(target=work, name="merlin-fetch", daemon=True).start()
    try:
        outcome = answers.get(timeout=seconds)
    except queue.Empty:
        late.set()
        raise TimeoutError from None
    if isinstance(outcome, BaseException):
        raise outcome
    answered: http.client.HTTPResponse = outcome
    return answered


def reason(error: Exception) -> str:
    """Why a connection failed, in words."""
    inner = getattr(error, "reason", error)
    if isinstance(inner, TimeoutError):
        return "no answer in time"
    return shown(getattr(inner, "strerror", None) or str(inner) or type(inner).__name__)


def shown(text: object) -> str:
    """What a server says, fit for a sentence: one line, short, nothing that a terminal would obey."""
    words = " ".join("".join(letter if letter.isprintable() else " " for letter in str(text)[:500]).split())
    return words if len(words) <= 80 else f"{words[:77]}..."
