"""Whatever is sent, nothing is answered with a status of 500 or more, and every refusal is one sentence."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merlin_cl.serving.limits import Limits

from .asking import TOKEN, made, serving

pytestmark = pytest.mark.usefixtures("short_fits")

HEADERS = [(b"content-type", b"application/json"), (b"authorization", f"Bearer {TOKEN}".encode())]
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
row = st.lists(st.floats(-1e16, 1e16) | st.integers(), min_size=6, max_size=6)
inputs = st.lists(row, min_size=1, max_size=3) | anything
label = st.integers(-3, 3) | anything
body = st.fixed_dictionaries(
    {},
    optional={
        "inputs": inputs,
        "labels": st.lists(label, max_size=3) | anything,
        "label": label,
        "task": st.sampled_from([0, "a", "b"]) | anything,
        "end_task": st.booleans() | anything,
        "probabilities": st.booleans() | anything,
        "id": st.text(max_size=210) | anything,
        "answer": st.text(max_size=20) | anything,
        "version": st.integers(0, 5) | anything,
        "more": anything,
    },
)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with serving(made(tmp_path_factory.mktemp("fuzz") / "model"), limits=Limits(rate=1e9)) as served:
        yield served


def require_sensible(status, content):
    assert status < 500, content
    if status >= 400:
        (sentence,) = json.loads(content).values()
        assert sentence.endswith((".", "?")), sentence
        assert "Traceback" not in sentence


@QUICK
@given(st.sampled_from(["/predict", "/learn", "/feedback", "/rollback"]), body | anything)
def test_bodies(client, path, value):
    status, _, content = client.raw("POST", path, json.dumps(value).encode(), HEADERS)
    require_sensible(status, content)


@QUICK
@given(st.sampled_from(["/predict", "/learn"]), st.binary(max_size=60))
def test_bytes(client, path, value):
    status, _, content = client.raw("POST", path, value, HEADERS)
    require_sensible(status, content)


@QUICK
@given(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "BREW"]),
    st.text(max_size=20) | st.sampled_from(["learn/", "model", "status?x", "docs", "metrics"]),
    st.lists(
        st.tuples(st.sampled_from([b"authorization", b"content-type", b"content-length"]), st.binary(max_size=20))
    ),
)
def test_paths_and_headers(client, method, path, headers):
    status, _, content = client.raw(method, "/" + path, b"{}", headers)
    require_sensible(status, content if method != "HEAD" else b'{"error": "."}')


def test_the_service_is_as_well_as_before(client):
    client.learned()
    assert client.get("/health")[1]["learns"]
    assert client.post("/predict", inputs=[[0.0] * 6])[0] == 200
