"""What a client may ask of a service: how much at once, how often, and for how long."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from merlin_cl.errors import MerlinError
from merlin_cl.serving.answering import BusyError

CLIENTS = 1_000
"""Addresses whose requests are counted; those that were silent longest are forgotten first."""


class BodyTooLargeError(MerlinError):
    """A body that is larger than is taken."""


class TooSlowError(MerlinError):
    """A body that did not come in time."""


class LateError(MerlinError):
    """An answer that was not there in time."""


@dataclass(frozen=True)
class Limits:
    """Of one service."""

    inputs: int = 1_000
    """In a request."""
    bytes: int = 16_000_000
    """Of a request's body."""
    rate: float = 5_000.0
    """Requests of one address in a second, on average."""
    seconds: float = 10.0
    """To receive a body, and again to answer."""


class Rate:
    """Lets every client have so many requests a second, and as many at once after a second of silence."""

    def __init__(self, a_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = a_second, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # requests, and when that was so

    def take(self, client: str) -> None:
        """One more request of a client; BusyError where it has had its share."""
        now, most = self._clock(), max(1.0, self._rate)
        left, since = self._left.pop(client, (most, now))
        left = min(most, left + (now - since) * self._rate)
        self._left[client] = (max(0.0, left - 1), now)
        if len(self._left) > CLIENTS:
            self._left.popitem(last=False)
        if left < 1:
            raise BusyError(f"More than {self._rate:g} requests in a second came from {client}; ask again in a second.")


async def whole_body(stream: AsyncIterator[bytes], announced: str | None, limits: Limits) -> bytes:
    """A request's body, which is given up as soon as it is too large or too slow."""
    if announced is not None and announced.isdecimal() and int(announced) > limits.bytes:
        raise _too_large(limits)
    content = bytearray()
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in stream:
                content += part
                if len(content) > limits.bytes:
                    raise _too_large(limits)
    except TimeoutError:
        raise TooSlowError(f"The body did not come within {limits.seconds:g} seconds; send it again.") from None
    return bytes(content)


def _too_large(limits: Limits) -> BodyTooLargeError:
    return BodyTooLargeError(f"The body is larger than {limits.bytes:,} bytes; send fewer inputs in a request.")
