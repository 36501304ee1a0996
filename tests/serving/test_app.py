"""What a service answers over HTTP: labels, acknowledgements, and a sentence to whatever is wrong."""

import asyncio
import json
import threading

import numpy as np
import pytest

from estimator.small import clouds
from merlin_cl import ContinualClassifier
from merlin_cl.learners.rivals.er import ER
from merlin_cl.serving import answering, app, figures, outlook
from merlin_cl.serving.limits import Limits, Rate
from merlin_cl.serving.model import Answer, PredictionRequest, ServedModel
from patience import PATIENCE, wait_for

from .asking import TOKEN, made, serving

pytestmark = pytest.mark.usefixtures("short_fits")

JSON = (b"content-type", b"application/json")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return made(tmp_path_factory.mktemp("model") / "model")


@pytest.fixture(scope="module")
def client(saved, tmp_path_factory):
    """A service that tests ask, and of which they change nothing that another asks for."""
    with serving(saved, tmp_path_factory.mktemp("state"), Limits(inputs=50, bytes=100_000)) as served:
        yield served


@pytest.fixture
def own(saved, tmp_path):
    """A service of a test's own."""
    with serving(saved, tmp_path / "state") as served:
        yield served


def test_answers_are_those_of_the_model(client, saved):
    x, _ = clouds(0, 1, count=7)
    status, body = client.post("/predict", inputs=x.tolist(), probabilities=True)
    expected = ContinualClassifier.load(saved).predict_proba(x)
    assert status == 200
    assert body["version"] == client.service.model.snapshot.version
    assert [answer["label"] for answer in body["answers"]] == expected.argmax(axis=1).tolist()
    for answer, row in zip(body["answers"], expected, strict=True):
        assert answer["probability"] == pytest.approx(row.max(), abs=1e-6)
        assert list(answer["probabilities"].values()) == pytest.approx(row.tolist(), abs=1e-6)
    one, known = client.post("/predict", inputs=x[:1].tolist(), task=0)
    assert one == 200
    assert known["answers"][0]["label"] == body["answers"][0]["label"]


def test_what_is_learned_is_answered_from_then_on(own):
    x, y = clouds(0, 1, 5, count=90)
    status, body = own.learn(x, y, id="lesson")
    assert (status, body) == (202, {"id": "lesson", "version": 1, "again": False})
    assert own.learn(x, y, id="lesson")[1]["again"]
    own.learned()
    assert own.get("/learn/lesson") == (200, {"id": "lesson", "version": 1, "state": "learned", "why": None})
    answers = own.post("/predict", inputs=clouds(5)[0].tolist())[1]
    assert answers["version"] == 1
    assert np.mean([answer["label"] == 5 for answer in answers["answers"]]) > 0.9
    assert own.get("/model")[1]["classes"] == [0, 1, 5]
    assert own.get("/status")[1]["accuracy"]["recent"] == pytest.approx(2 / 3, abs=0.05)  # no five was known before


def test_feedback_teaches_what_was_asked(own):
    x, _ = clouds(4, count=3)
    answers = own.post("/predict", inputs=x.tolist())[1]["answers"]
    status, body = own.post("/feedback", answer=answers[1]["id"], label=4)
    assert status == 202
    assert own.post("/feedback", answer=answers[1]["id"], label=4)[1] == {**body, "again": True}
    assert own.post("/feedback", answer=answers[1]["id"], label=0)[0] == 409
    own.learned()
    (entry,) = own.service.journal.after(0, 10)
    np.testing.assert_array_equal(entry.request.inputs, x[1:2].astype(np.float64))
    assert entry.request.labels == (4,)
    assert own.get("/learn/" + body["id"])[1]["state"] == "learned"


def test_a_version_can_be_gone_back_to(own):
    own.learn(*clouds(2, 3))
    own.learned()
    assert own.get("/model")[1]["classes"] == [0, 1, 2, 3]
    assert own.post("/rollback", version=0)[0] == 202
    own.learned()
    wait_for(lambda: own.get("/model")[1]["versions"] == [0, 2])
    assert own.get("/model")[1]["classes"] == [0, 1]
    status, body = own.post("/rollback", version=1)
    assert (status, body["error"]) == (404, "Version 1 is not kept; these are: 0, 2.")


def test_no_answer_waits_for_learning(own, monkeypatch):
    begun, go_on, whole = threading.Event(), threading.Event(), ER._observe

    def held(self, x, y):
        begun.set()
        assert go_on.wait(PATIENCE)
        whole(self, x, y)

    monkeypatch.setattr(ER, "_observe", held)
    x, y = clouds(0, 1, 2)
    assert own.learn(x, y)[0] == 202
    assert begun.wait(PATIENCE)
    for _ in range(3):
        status, body = own.post("/predict", inputs=x[:5].tolist())
        assert (status, body["version"]) == (200, 0)
    assert own.get("/status")[1]["waiting"] == len(y)
    assert own.get("/health") == (200, {"answers": True, "learns": True, "version": 0})
    go_on.set()
    own.learned()


def test_what_waits_is_known_when_the_next_is_checked(own, monkeypatch):
    """Tasks that are not learned yet are over all the same, and what was refused in the end did not happen."""
    begun, go_on = threading.Event(), threading.Event()
    whole = ServedModel.step
    monkeypatch.setattr(ServedModel, "step", lambda self: (begun.set(), go_on.wait(PATIENCE), whole(self))[2])
    assert own.learn(*clouds(0, 1, count=4), task="a")[0] == 202
    assert own.learn(*clouds(0, 1, count=4), task="b")[0] == 202
    monkeypatch.setattr(outlook, "MOST_TASKS", 3)
    status, body = own.learn(*clouds(0, 1, count=4), task="a")
    assert (status, body["error"]) == (
        422, "With this request the model would have 4 tasks, where 3 is the most there can be here.",
    )  # fmt: skip
    assert own.post("/rollback", version=0)[0] == 202
    assert own.learn(*clouds(0, 1, count=4), task="a")[0] == 202
    go_on.set()
    own.learned()
    assert own.get("/model")[1]["tasks"] == [0, "a"]


def test_requests_that_wait_are_learned_after_a_restart(saved, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(ServedModel, "step", lambda _: [])
        with serving(saved, tmp_path / "state") as first:
            assert first.learn(*clouds(3, 4), task="new", id="x")[0] == 202
            assert first.get("/learn/x")[1]["state"] == "waiting"
    with serving(saved, tmp_path / "state") as second:
        with monkeypatch.context() as patch:
            patch.setattr(outlook, "MOST_TASKS", 2)  # of which "new" is one, though it may not be learned yet
            assert second.learn(*clouds(0, count=2), task=0)[0] == 422
        second.learned()
        assert second.get("/model")[1]["tasks"] == [0, "new"]
        assert second.learn(*clouds(3, 4), task="new", id="x")[1]["again"]
    with serving(saved, tmp_path / "state") as third:
        assert third.service.model.applied == 1
        assert third.get("/status")[1]["accuracy"]["recent"] == 0.0  # none of these classes was known before


GOOD = [[0.0] * 6]
WRONG = [
    ("/predict", {}, 422, "The field 'inputs' is missing; send it, as /docs shows."),
    ("/predict", {"inputs": []}, 422, "inputs is []; give a list with an entry of 6 numbers for each input."),
    ("/predict", {"inputs": [[1.0] * 5]}, 422, "Inputs have shape [5]; the model takes 6 numbers each."),
    ("/predict", {"inputs": [[1.0] * 6, [1.0]]}, 422,
     "Inputs have several shapes, or nested ones that differ; the model takes 6 numbers each."),
    ("/predict", {"inputs": [["x"] * 6]}, 422, "Input 0 holds 'x', which is no number; give 6 numbers."),
    ("/predict", {"inputs": [[1.0] * 5 + [None]]}, 422, "Input 0 holds None, which is no number; give 6 numbers."),
    ("/predict", {"inputs": [[True] * 6]}, 422, "Input 0 holds True, which is no number; give 6 numbers."),
    ("/predict", {"inputs": [[1e300] * 6]}, 422,
     "Inputs hold a number that is larger than 1e+15; scale inputs to about 1 first."),
    ("/predict", {"inputs": [[10**30] * 6]}, 422,
     "Input 0 holds a number that is larger than 1e+15; scale inputs to about 1 first."),
    ("/predict", {"inputs": [{"a": 1}]}, 422,
     "Input 0 is an object, but the model's columns have no names; give lists of 6 numbers."),
    ("/predict", {"inputs": GOOD * 51}, 422, "There are 51 inputs; send at most 50 in a request."),
    ("/predict", {"inputs": GOOD, "task": "none"}, 422, "Unknown task 'none'. Known: 0."),
    ("/predict", {"inputs": GOOD, "task": [1]}, 422, "task is [1]; give a name or a number."),
    ("/predict", {"inputs": GOOD, "probabilities": "yes"}, 422, "probabilities is 'yes'; give true or false."),
    ("/predict", {"input": GOOD}, 422, "Unknown field 'input'; did you mean 'inputs'?"),
    ("/learn", {"inputs": GOOD, "labels": 1}, 422, "labels is 1; give a list with a label for each input."),
    ("/learn", {"inputs": GOOD, "labels": [1, 2]}, 422, "There are 1 inputs but 2 labels; give one label for each."),
    ("/learn", {"inputs": GOOD, "labels": ["cat"]}, 422, "Label 'cat' is no number; the model's labels are numbers."),
    ("/learn", {"inputs": GOOD, "labels": [0.5]}, 422, "Label 0.5 is no whole number; the model's labels are."),
    ("/learn", {"inputs": GOOD, "labels": [None]}, 422, "Label None is no number; the model's labels are numbers."),
    ("/learn", {"inputs": GOOD, "labels": [1], "id": 7}, 422, "id is 7; give text of at most 200 characters."),
    ("/learn", {"inputs": GOOD, "labels": [1], "task": "a\nb"}, 422,
     "task is 'a\\nb'; give 1 to 1,000 characters, none of them a control character."),
    ("/feedback", {"answer": "x-0", "label": 1}, 404,
     "The answer 'x-0' is not known, or no longer; send input and label to /learn instead."),
    ("/feedback", {"answer": None, "label": 1}, 422, "answer is null; give the id of an answer."),
    ("/rollback", {"version": "1"}, 422, "version is '1'; give the number of a version, as /model lists them."),
    ("/rollback", {"version": 99}, 404, "Version 99 is not kept; these are: 0."),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "status", "sentence"), WRONG)
def test_what_is_wrong_is_said_in_a_sentence(client, path, body, status, sentence):
    code, answer = client.post(path, **body)
    assert (code, answer) == (status, {"error": sentence})
    assert client.service.journal.last() == 0


@pytest.mark.parametrize(
    ("content", "headers", "status", "sentence"),
    [
        (b"{", [JSON], 400, "The body is no JSON ("),
        (b"[1]", [JSON], 400, "The body is [1]; send an object, as /docs shows."),
        (b'{"inputs": NaN}', [JSON], 400, "NaN is no number"),
        (b"[" * 100_000, [JSON], 400, "nested too deeply"),
        (b"\xff\xfe", [JSON], 400, "The body is no JSON ("),
        (b"", [JSON], 400, "The body is no JSON ("),
        (b"a=1", [(b"content-type", b"text/plain")], 415, "The body is 'text/plain'; send application/json."),
        (b" " * 100_001, [JSON], 413, "The body is larger than 100,000 bytes; send fewer inputs in a request."),
        ([b" " * 60_000, b" " * 60_000], [JSON], 413, "larger than 100,000 bytes"),
        (b"{}", [JSON, (b"content-length", b"999999999999")], 413, "larger than 100,000 bytes"),
    ],
)
def test_bodies_that_are_none(client, content, headers, status, sentence):
    code, _, answer = client.raw("POST", "/predict", content, headers)
    assert code == status
    assert sentence in json.loads(answer)["error"]


def test_other_paths_and_methods(client):
    assert client.get("/nothing") == (404, {"error": "There is nothing here; /docs lists what there is."})
    assert client.get("/predict") == (405, {"error": "This path takes another method; see /docs."})
    assert client.get("/learn/unknown") == (404, {"error": "No request has the id 'unknown'."})


@pytest.mark.parametrize("path", ["/learn", "/feedback", "/rollback"])
@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x"])
def test_nothing_changes_without_the_token(client, path, token):
    status, body = client.post(path, token=token, inputs=GOOD, labels=[1], version=0)
    assert status == 401
    assert "The token is missing or wrong" in body["error"]


def test_who_asks_by_another_name_learns_nothing(client):
    for host in ("evil.example", "127.0.0.1.evil.example:80", ""):
        assert client.get("/model", host=host)[0] == 403
    for host in ("127.0.0.1:8478", "localhost", "[::1]:8478"):
        assert client.get("/model", host=host)[0] == 200


def test_elsewhere_than_on_this_machine_all_that_tells_needs_the_token(saved, tmp_path):
    with serving(saved, tmp_path / "state", host="0.0.0.0") as there:
        assert there.get("/health", host="far.example")[0] == 200
        assert there.get("/", host="far.example")[0] == 200
        for path in ("/model", "/status", "/metrics", "/learn/x"):
            assert there.get(path, host="far.example")[0] == 401
        assert there.post("/predict", inputs=GOOD)[0] == 200
        assert there.post("/predict", token="no", inputs=GOOD)[0] == 401


def test_every_answer_has_its_headers(client):
    for method, path in (("GET", "/"), ("GET", "/docs"), ("GET", "/model"), ("POST", "/learn"), ("GET", "/nothing")):
        _, headers, _ = client.raw(method, path)
        for name, value in app.SAFE.items():
            assert {key.lower(): given for key, given in headers.items()}[name.lower().encode()] == value.encode()


def test_a_client_has_a_rate_and_others_have_their_own(saved, tmp_path):
    with serving(saved, tmp_path / "state", Limits(rate=1e-9)) as slow:
        assert slow.get("/health")[0] == 200
        status, headers, content = slow.raw("GET", "/health")
        assert (status, headers[b"retry-after"]) == (429, b"1")
        assert b"requests in a second came from 127.0.0.1" in content
        assert slow.get("/health", client="127.0.0.2")[0] == 200


def test_the_rate_is_kept_for_few_clients():
    now = [0.0]
    rate = Rate(2, lambda: now[0])
    for number in range(5_000):
        rate.take(f"client {number}")
    assert len(rate._left) == 1_000
    rate.take("one")
    rate.take("one")
    with pytest.raises(answering.BusyError):
        rate.take("one")
    now[0] = 0.5
    rate.take("one")


def test_more_than_may_wait_is_refused_for_a_while(saved, tmp_path, monkeypatch):
    monkeypatch.setattr(ServedModel, "step", lambda _: [])
    with serving(saved, tmp_path / "state", most_waiting=100) as full:
        assert full.learn(*clouds(0, 1, count=80))[0] == 202
        status, body = full.learn(*clouds(0, 1, count=30))
        assert (status, body["error"]) == (429, "80 examples wait to be learned already; send more in a while.")
        assert full.learn(*clouds(0, 1, count=20))[0] == 202


def test_a_body_that_does_not_come_is_given_up(saved, tmp_path):
    with serving(saved, tmp_path / "state", Limits(seconds=0.05)) as hasty:

        async def ask():
            messages, answer = [{"type": "http.request", "body": b"{", "more_body": True}], []

            async def receive():
                return messages.pop() if messages else await asyncio.Event().wait()

            async def send(message):
                answer.append(message)

            scope = {"type": "http", "method": "POST", "path": "/predict", "headers": [(b"host", b"localhost"), JSON],
                     "query_string": b"", "client": ("127.0.0.1", 1), "server": ("localhost", 80), "scheme": "http"}  # fmt: skip
            await hasty._app(scope, receive, send)
            return answer

        answer = asyncio.run_coroutine_threadsafe(ask(), hasty._loop).result(PATIENCE)
        assert answer[0]["status"] == 408
        assert b"did not come within 0.05 seconds" in answer[1]["body"]


def test_what_is_asked_meanwhile_has_a_limit():
    held = threading.Event()

    class Slow:
        version = 0

        def answer(self, x, question):
            assert held.wait(PATIENCE)
            return Answer(0, np.array([0]), np.ones((len(x), 1)))

    answerer = answering.Answerer(Slow)
    x = np.zeros((answering.MOST_WAITING, 1))
    answerer.start()
    first = answerer.ask(x, PredictionRequest())
    wait_for(lambda: not answerer._waiting)
    second = answerer.ask(x, PredictionRequest())
    with pytest.raises(answering.BusyError, match="4,096 inputs wait"):
        answerer.ask(x[:1], PredictionRequest())
    held.set()
    assert first.result(PATIENCE).probabilities.shape == second.result(PATIENCE).probabilities.shape
    answerer.stop()


def test_inputs_are_remembered_in_bounded_memory():
    remembered = answering.Remembered(most_bytes=1_000)
    for number in range(100):
        remembered.add(str(number), np.full((2, 10), number, dtype=np.float64), None)
    assert remembered.get("0-0") is None
    assert remembered.get("99-1")[0].tolist() == [[99.0] * 10]
    for unknown in ("99-2", "99", "99--1", "99-x", "99-²", ""):
        assert remembered.get(unknown) is None
    assert len(remembered._known) == 6


@pytest.mark.parametrize(
    ("labels", "wrong", "sentence"),
    [(["cat", "dog"], 1, "Label 1 is no text; the model's labels are text."), ([0, 1], "1", "is no number")],
)
def test_labels_are_of_the_models_kind(tmp_path, labels, wrong, sentence):
    x, y = clouds(0, 1)
    path = ContinualClassifier("slda").partial_fit(x, np.array(labels)[y]).save(tmp_path / "model")
    with serving(path) as there:
        status, body = there.post("/learn", inputs=x[:1].tolist(), labels=[wrong])
        assert status == 422
        assert sentence in body["error"]
        assert there.post("/learn", inputs=x[:2].tolist(), labels=labels)[0] == 202


def test_sets_and_novelty_and_the_coverage_before_learning(tmp_path):
    model = ContinualClassifier("slda", calibration=100, batch_size=50).partial_fit(*clouds(0, 1, 2, count=600))
    path = model.save(tmp_path / "model")
    x, y = clouds(0, 1, 2, count=50, seed=1)
    with serving(path) as there:
        answers = there.post("/predict", inputs=x.tolist(), coverage=0.9, novelty=True)[1]["answers"]
        sets, strange = model.predict_set(x, 0.9), model.novelty(x)
        assert [answer["set"] for answer in answers] == [np.flatnonzero(row).tolist() for row in sets]
        assert [answer["novelty"] for answer in answers] == pytest.approx(strange.tolist(), abs=1e-6)
        assert there.get("/status")[1]["coverage"]["recent"] is None
        there.learn(x, y)
        there.learned()
        wait_for(lambda: there.get("/status")[1]["coverage"]["recent"] is not None)
        expected = sets[np.arange(50), y].mean()
        assert there.get("/status")[1]["coverage"]["recent"] == pytest.approx(expected, abs=1e-6)
        for wrong in (0, 1, "0.9", True):
            status, body = there.post("/predict", inputs=x[:1].tolist(), coverage=wrong)
            assert (status, body["error"]) == (
                422, f"coverage is {wrong!r}; give a number between 0 and 1, such as 0.9."
            )  # fmt: skip
    with serving(path, tmp_path / "state") as again:
        assert again.get("/status")[1]["coverage"]["recent"] == pytest.approx(expected, abs=1e-6)


def test_without_held_back_examples_sets_are_refused(client):
    status, body = client.post("/predict", inputs=GOOD, coverage=0.9)
    assert status == 422
    assert "make the estimator with calibration=500" in body["error"]


def test_images_flat_and_nested_and_only_bytes(tmp_path):
    x = np.random.default_rng(0).integers(0, 255, (40, 8, 8), dtype=np.uint8)
    path = ContinualClassifier("slda").partial_fit(x, np.arange(40) % 2).save(tmp_path / "model")
    with serving(path) as there:
        forms = [x[:3], x[:3].reshape(3, 64), x[:3].reshape(3, 1, 8, 8), x[:3].astype(float)]
        answers = [there.post("/predict", inputs=form.tolist())[1]["answers"] for form in forms]
        assert len({json.dumps([{**answer, "id": ""} for answer in each]) for each in answers}) == 1
        for wrong, said in ((256, "256"), (-1, "-1"), (0.5, "0.5")):
            status, body = there.post("/predict", inputs=[[wrong] * 64])
            assert (status, body["error"]) == (422, f"Inputs hold {said}; the model takes whole numbers from 0 to 255.")


def test_columns_by_name(tmp_path):
    pandas = pytest.importorskip("pandas")
    x, y = clouds(0, 1)
    frame = pandas.DataFrame(x, columns=list("abcdef"))
    path = ContinualClassifier("slda").partial_fit(frame, y).save(tmp_path / "model")
    with serving(path) as there:
        rows = frame[:4].to_dict("records")
        named = there.post("/predict", inputs=[dict(reversed(row.items())) for row in rows])[1]["answers"]
        listed = there.post("/predict", inputs=x[:4].tolist())[1]["answers"]
        assert [each["probability"] for each in named] == [each["probability"] for each in listed]
        assert there.post("/predict", inputs=[{"a": 1}])[1]["error"] == (
            "Input 0 has no column 'b'; give all of the model's 6."
        )
        assert "has a column 'z'" in there.post("/predict", inputs=[{**rows[0], "z": 1}])[1]["error"]
        assert there.post("/learn", inputs=rows, labels=y[:4].tolist())[0] == 202
        there.learned()
        version = there.service.model.path(there.service.model.save())
    assert list(ContinualClassifier.load(version).feature_names_in_) == list("abcdef")


def test_a_method_that_cannot_grow_says_so_at_once(tmp_path):
    x, y = clouds(0, 1)
    path = ContinualClassifier("hnet", settings={"hidden_units": (8,)}).partial_fit(x, y).save(tmp_path / "model")
    with serving(path) as there:
        status, body = there.learn(*clouds(0, 1, 2))
        assert (status, body["error"]) == (
            422, "With this request the model would have 3 classes, where 2 is all that hnet was made for.",
        )  # fmt: skip


def test_figures_for_prometheus(own):
    own.post("/predict", inputs=GOOD)
    own.learn(*clouds(0, 1, count=10))
    own.learned()
    wait_for(lambda: own.service.figures.learned == 10)
    status, text = own.get("/metrics")
    assert status == 200
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert lines['merlin_requests_total{path="/predict",status="200"}'] == "1"
    assert lines["merlin_answers_total"] == "1"
    assert lines["merlin_learned_total"] == "10"
    assert lines['merlin_answer_seconds_bucket{le="+Inf"}'] == "1"
    assert lines["merlin_version"] == "1"
    assert lines["merlin_learns"] == "1"
    own.get("/" + "x" * 500)
    assert "xxx" not in own.get("/metrics")[1]


def test_a_change_is_told_from_chance():
    draws, change = np.random.default_rng(0), figures.Change()
    for _ in range(20):
        change.add((draws.random(200) < 0.9).astype(float).tolist())
        assert not change.record()["changed"]
    change.add((draws.random(200) < 0.7).astype(float).tolist())
    record = change.record()
    assert record["changed"]
    assert record["recent"] < record["before"]


def test_trouble_with_the_disk_is_said_and_passes(own, monkeypatch):
    from merlin_cl.serving import teacher
    from merlin_cl.serving.journal import StorageError

    monkeypatch.setattr(teacher, "RETRY_SECONDS", 0.01)
    whole, full = ServedModel.step, [True]

    def step(self):
        if full[0]:
            raise StorageError("The disk is full.")
        return whole(self)

    monkeypatch.setattr(ServedModel, "step", step)
    own.learn(*clouds(0, 1))
    wait_for(lambda: own.get("/health")[1]["learns"] is False)
    assert own.get("/status")[1]["trouble"] == "The disk is full."
    assert own.post("/predict", inputs=GOOD)[0] == 200
    full[0] = False
    own.learned()
    wait_for(lambda: own.get("/health")[1]["learns"])


def test_the_pages_are_there(client):
    status, page = client.get("/")
    assert status == 200
    assert "merlin serve" in page
    status, page = client.get("/docs")
    assert status == 200
    for path in client.get("/openapi.json")[1]["paths"]:
        assert path in page
