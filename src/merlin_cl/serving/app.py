"""The service over HTTP: routes, who may call them, and an answer in one sentence to whatever is wrong."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from merlin_cl.errors import DivergenceError, InputError, MerlinError, ShortageError, UsageError
from merlin_cl.serving import bodies
from merlin_cl.serving.answering import BusyError
from merlin_cl.serving.figures import exposition
from merlin_cl.serving.journal import ConflictError, StorageError
from merlin_cl.serving.journal import Request as Change
from merlin_cl.serving.limits import BodyTooLargeError, LateError, Limits, Rate, TooSlowError, whole_body
from merlin_cl.serving.model import Answer, PredictionRequest
from merlin_cl.serving.openapi import document
from merlin_cl.serving.outlook import shown
from merlin_cl.serving.pages import dashboard, documentation, policy
from merlin_cl.serving.service import Service, UnknownError

STATUS: dict[type[MerlinError], int] = {
    bodies.MalformedError: 400,
    UnknownError: 404,
    TooSlowError: 408,
    ConflictError: 409,
    BodyTooLargeError: 413,
    BusyError: 429,
    LateError: 503,
    DivergenceError: 503,
    ShortageError: 503,
    StorageError: 507,
    InputError: 422,
    UsageError: 422,
}
"""What an error is in HTTP."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
CHANGING = ("/learn", "/feedback", "/rollback")
OPEN = ("/", "/health", "/docs", "/openapi.json")
"""Paths without a token, wherever the service listens: they tell nothing of what was learned."""
POINT_SECONDS = 5.0
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer."""


def application(service: Service, token: str, limits: Limits | None = None, host: str = "127.0.0.1") -> ASGIApp:
    """The service as an ASGI application; starting and stopping it starts and stops the service."""
    limits = limits or Limits()
    routes = Routes(service, limits)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        service.start()
        points = asyncio.create_task(routes.keep_history())
        yield
        points.cancel()
        with suppress(asyncio.CancelledError):
            await points
        await asyncio.to_thread(service.stop)

    app = Starlette(
        routes=[
            Route("/predict", routes.predict, methods=["POST"]),
            Route("/learn", routes.learn, methods=["POST"]),
            Route("/learn/{id:path}", routes.learned, methods=["GET"]),
            Route("/feedback", routes.feedback, methods=["POST"]),
            Route("/rollback", routes.rollback, methods=["POST"]),
            Route("/health", routes.health, methods=["GET"]),
            Route("/metrics", routes.metrics, methods=["GET"]),
            Route("/model", routes.model, methods=["GET"]),
            Route("/status", routes.status, methods=["GET"]),
            Route("/openapi.json", routes.openapi, methods=["GET"]),
            Route("/docs", routes.documentation, methods=["GET"]),
            Route("/", routes.dashboard, methods=["GET"]),
        ],
        exception_handlers={MerlinError: _refused, HTTPException: _no_such_route, Exception: _unexpected},
        lifespan=running,
    )
    return Gate(app, service, token, Rate(limits.rate), host)


class Routes:
    """What is done for each path."""

    def __init__(self, service: Service, limits: Limits) -> None:
        self._service, self._limits = service, limits

    async def predict(self, request: Request) -> Response:
        """Answer inputs."""
        begun = time.perf_counter()
        body = await self._body(request, inputs=True, task=False, probabilities=False, coverage=False, novelty=False)
        service, task = self._service, bodies.task_of(body)
        question = PredictionRequest(task, bodies.coverage_of(body), bodies.flag(body, "novelty"))
        x, every = service.form.inputs(body["inputs"], self._limits.inputs), bodies.flag(body, "probabilities")
        try:
            async with asyncio.timeout(self._limits.seconds):
                answer = await asyncio.wrap_future(service.answerer.ask(x, question))
        except TimeoutError:
            raise LateError(
                f"There was no answer within {self._limits.seconds:g} seconds; ask again, or fewer at once."
            ) from None
        id = secrets.token_hex(8)
        service.remembered.add(id, x, task)
        answers = _answers(answer, id, every)
        service.figures.answer(time.perf_counter() - begun, [each["probability"] for each in answers])
        return JSONResponse({"version": answer.version, "answers": answers})

    async def learn(self, request: Request) -> Response:
        """Take examples to learn."""
        body = await self._body(request, inputs=True, labels=True, task=False, end_task=False, id=False)
        x = self._service.form.inputs(body["inputs"], self._limits.inputs)
        given = body["labels"]
        if not isinstance(given, list):
            raise InputError(f"labels is {shown(given)}; give a list with a label for each input.")
        if len(given) != len(x):
            raise InputError(f"There are {len(x):,} inputs but {len(given):,} labels; give one label for each.")
        labels = self._service.rules.labels(given)
        change = Change("learn", x, labels, bodies.task_of(body), bodies.flag(body, "end_task"))
        return await self._accepted(partial(self._service.accept, bodies.id_of(body), change))

    async def learned(self, request: Request) -> Response:
        """Tell what became of examples."""
        id = request.path_params["id"]
        known = await asyncio.to_thread(self._service.journal.state_of, id)
        if known is None:
            raise UnknownError(f"No request has the id {shown(id)}.")
        number, state, why = known
        if state == "waiting" and number <= self._service.model.snapshot.version:
            state = "learned"  # it is answered from already, though not yet noted
        return JSONResponse({"id": id, "version": number, "state": state, "why": why})

    async def feedback(self, request: Request) -> Response:
        """Take what would have been the right answer."""
        body = await self._body(request, answer=True, label=True)
        answer = bodies.id_of(body, "answer")
        if answer is None:
            raise InputError("answer is null; give the id of an answer.")
        return await self._accepted(partial(self._service.accept_feedback, answer, body["label"]))

    async def rollback(self, request: Request) -> Response:
        """Take the wish to go back to a version."""
        body = await self._body(request, version=True, id=False)
        version = body["version"]
        if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version < 2**53:
            raise InputError(f"version is {shown(version)}; give the number of a version, as /model lists them.")
        change = Change("rollback", version=version)
        return await self._accepted(partial(self._service.accept, bodies.id_of(body), change))

    async def health(self, _: Request) -> Response:
        """Tell whether the service answers and learns."""
        trouble = self._service.teacher.trouble
        return JSONResponse(
            {"answers": True, "learns": trouble is None, "version": self._service.model.snapshot.version}
        )

    async def metrics(self, _: Request) -> Response:
        """Tell figures as Prometheus reads them."""
        status = await asyncio.to_thread(self._service.status)
        gauges = {name: status[name] for name in ("version", "waiting", "classes", "tasks")}
        gauges |= {"learns": float(status["learning"]), "confidence": status["confidence"]["recent"]}
        text = exposition(self._service.figures, gauges)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def model(self, _: Request) -> Response:
        """Tell what the model is."""
        return JSONResponse(await asyncio.to_thread(self._service.description))

    async def status(self, _: Request) -> Response:
        """Tell what the dashboard shows."""
        status = await asyncio.to_thread(self._service.status)
        return JSONResponse({**status, "history": list(self._service.figures.history)})

    async def openapi(self, _: Request) -> Response:
        """Tell how all of this is called, to programs."""
        return JSONResponse(document(self._service, self._limits))

    async def documentation(self, _: Request) -> Response:
        """Tell the same to people."""
        return HTMLResponse(documentation(document(self._service, self._limits)), headers=_page_policy())

    async def dashboard(self, _: Request) -> Response:
        """Show how the service does."""
        return HTMLResponse(dashboard(), headers=_page_policy())

    async def keep_history(self) -> None:
        """Note every few seconds how the service does."""
        while True:
            await asyncio.sleep(POINT_SECONDS)
            snapshot = self._service.model.snapshot
            classes, tasks = len(snapshot.estimator.classes_), len(snapshot.estimator.tasks_)
            self._service.figures.point(POINT_SECONDS, version=snapshot.version, classes=classes, tasks=tasks)

    async def _body(self, request: Request, **fields: bool) -> dict[str, Any]:
        kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise HTTPException(415, f"The body is {shown(kind)}; send application/json.")
        content = await whole_body(request.stream(), request.headers.get("content-length"), self._limits)
        return bodies.parsed(content, fields)

    async def _accepted(self, accept: Callable[[], Any]) -> Response:
        id, acknowledgement = await asyncio.to_thread(accept)
        return JSONResponse(
            {"id": id, "version": acknowledgement.number, "again": acknowledgement.again}, status_code=202
        )


class Gate:
    """What every request passes: the name it asks for, the token, the rate; every answer gets its headers and is counted."""

    def __init__(self, app: ASGIApp, service: Service, token: str, rate: Rate, host: str) -> None:
        self._app, self._service, self._rate = app, service, rate
        self._token = f"Bearer {token}".encode()
        self._local = host in LOOPBACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path, headers = scope["path"], dict(scope["headers"])

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                message["headers"] += [
                    (name.encode(), value.encode())
                    for name, value in SAFE.items()
                    if name.lower().encode() not in given
                ]
                self._service.figures.request(_counted(path), message["status"])
            await send(message)

        refusal = self._refusal(scope, path, headers)
        with suppress(ClientDisconnect):
            await (refusal or self._app)(scope, receive, sending)

    def _refusal(self, scope: Scope, path: str, headers: dict[bytes, bytes]) -> Response | None:
        # A page of somebody else's that had its own name point here must not be able to read answers.
        host = headers.get(b"host", b"").decode("latin-1")
        if self._local and host.rpartition(":")[0].strip("[]") not in LOOPBACK and host not in LOOPBACK:
            return _error(
                403, "This service answers to 127.0.0.1 and localhost alone; ask for it by one of these names."
            )
        needs_token = path in CHANGING or not (self._local or path in OPEN)
        if needs_token and not hmac.compare_digest(headers.get(b"authorization", b""), self._token):
            return _error(
                401,
                "The token is missing or wrong; send the header `Authorization: Bearer TOKEN` with the one that `merlin serve` "
                "names when it starts.",
                {"WWW-Authenticate": "Bearer"},
            )
        try:
            self._rate.take((scope.get("client") or ("nobody",))[0])
        except BusyError as error:
            return _error(429, str(error), {"Retry-After": "1"})
        return None


def _answers(answer: Answer, id: str, every: bool) -> list[dict[str, Any]]:
    classes = answer.classes.tolist()
    answers = [
        {"id": f"{id}-{at}", "label": classes[best], "probability": float(row[best])}
        for at, (row, best) in enumerate(zip(answer.probabilities, answer.probabilities.argmax(axis=1), strict=True))
    ]
    if every:
        for each, row in zip(answers, answer.probabilities.tolist(), strict=True):
            each["probabilities"] = dict(zip(map(str, classes), row, strict=True))
    if answer.sets is not None:
        for each, chosen in zip(answers, answer.sets, strict=True):
            each["set"] = answer.classes[chosen].tolist()
    if answer.novelty is not None:
        for each, strange in zip(answers, answer.novelty.tolist(), strict=True):
            each["novelty"] = strange
    return answers


def _counted(path: str) -> str:
    """A path as figures name it: there are few, whatever is asked for."""
    first = "/" + path.strip("/").partition("/")[0]
    known = (*CHANGING, *OPEN, "/predict", "/metrics", "/model", "/status")
    return first if first in known else "other"


def _error(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": sentence}, status, headers)


async def _refused(_: Request, error: Exception) -> Response:
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
    return _error(status, str(error), {"Retry-After": "1"} if status in (429, 503, 507) else None)


async def _no_such_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentences = {
        404: "There is nothing here; /docs lists what there is.",
        405: "This path takes another method; see /docs.",
    }
    return _error(error.status_code, sentences.get(error.status_code, error.detail), dict(error.headers or {}))


async def _unexpected(_: Request, error: Exception) -> Response:
    return _error(500, f"Unexpected {type(error).__name__}; the terminal of the service says more.")


def _page_policy() -> dict[str, str]:
    return {"Content-Security-Policy": policy()}
