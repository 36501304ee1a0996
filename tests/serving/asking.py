"""A service in this process, asked as a client would: the application without sockets, in an event loop of its own thread."""

import asyncio
import json
import threading
from contextlib import contextmanager

from estimator.small import clouds
from merlin_cl import ContinualClassifier
from merlin_cl.serving.app import application
from merlin_cl.serving.service import Service
from patience import PATIENCE, wait_for

TOKEN = "a-token-of-the-tests"
SETTINGS = {"hidden_units": (16,), "exemplars": 40, "updates_per_batch": 5, "learning_rate": 0.01}


def made(path, *classes, method="er", **parameters):
    """A saved model of a few clouds."""
    settings = {} if method == "slda" else SETTINGS
    model = ContinualClassifier(method, settings=settings, **parameters)
    model.partial_fit(*clouds(*(classes or (0, 1))))
    return model.save(path)


class Client:
    """Asks an application; every answer is (status, body)."""

    def __init__(self, app, service, loop):
        self._app, self.service, self._loop = app, service, loop

    def raw(self, method, path, body=b"", headers=(), client="127.0.0.1", host="localhost"):
        """Status, headers and content of an answer."""
        task = asyncio.run_coroutine_threadsafe(
            _asked(self._app, method, path, body, headers, client, host), self._loop
        )
        return task.result(PATIENCE)

    def get(self, path, **more):
        status, headers, content = self.raw("GET", path, **more)
        return status, json.loads(content) if b"json" in headers[b"content-type"] else content.decode()

    def post(self, path, token=TOKEN, **body):
        headers = [(b"content-type", b"application/json"), (b"authorization", f"Bearer {token}".encode())]
        status, _, content = self.raw("POST", path, json.dumps(body).encode(), headers)
        return status, json.loads(content)

    def learn(self, x, y, **more):
        return self.post("/learn", inputs=x.tolist(), labels=list(getattr(y, "tolist", lambda: y)()), **more)

    def learned(self):
        """Wait until all that was sent is learned."""
        wait_for(lambda: self.service.model.snapshot.version == self.service.journal.last())


async def _asked(app, method, path, body, headers, client, host):
    path, _, query = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http", "path": path,
        "raw_path": path.encode("utf-8", "replace"), "query_string": query.encode(), "root_path": "",
        "headers": [(b"host", host.encode("latin-1")), *headers], "client": (client, 1), "server": ("localhost", 80),
    }  # fmt: skip
    parts = list(body) if isinstance(body, list) else [body]
    messages = [
        {"type": "http.request", "body": part, "more_body": at < len(parts) - 1} for at, part in enumerate(parts)
    ]
    answer = []

    async def receive():
        return messages.pop(0) if messages else await asyncio.Event().wait()

    async def send(message):
        answer.append(message)

    await app(scope, receive, send)
    content = b"".join(message.get("body", b"") for message in answer)
    return answer[0]["status"], dict(answer[0]["headers"]), content


@contextmanager
def serving(model, state=None, limits=None, host="127.0.0.1", **options):
    """A client of a service that runs."""
    service = Service(model, state or model.with_name("state"), **options)
    app = application(service, TOKEN, limits, host)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    told, ended = asyncio.Queue(), threading.Event()

    async def life():
        async def send(message):
            if message["type"] == "lifespan.shutdown.complete":
                ended.set()
            started.set()

        await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, told.get, send)

    started = threading.Event()
    asyncio.run_coroutine_threadsafe(told.put({"type": "lifespan.startup"}), loop).result(PATIENCE)
    running = asyncio.run_coroutine_threadsafe(life(), loop)
    assert started.wait(PATIENCE)
    try:
        yield Client(app, service, loop)
    finally:
        asyncio.run_coroutine_threadsafe(told.put({"type": "lifespan.shutdown"}), loop).result(PATIENCE)
        assert ended.wait(PATIENCE)
        running.result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()
