"""A service of a model that learned texts in features: it answers and learns texts, and refuses what is none in a sentence."""

import pytest

from features.test_in_use import WORDS, taught, tickets
from merlin_cl import ContinualClassifier
from merlin_cl.errors import UsageError
from merlin_cl.serving.bodies import LONGEST_TEXT
from merlin_cl.serving.service import Service

from .asking import serving

FACTORY = "features.own_features:letters"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model in features of our own making."""
    return taught(features=FACTORY).save(tmp_path_factory.mktemp("model") / "tickets")


@pytest.fixture(scope="module")
def client(saved, tmp_path_factory):
    with serving(saved, tmp_path_factory.mktemp("state"), features=FACTORY) as running:
        yield running


def test_texts_are_answered_and_learned(saved, tmp_path):
    with serving(saved, tmp_path / "state", features=FACTORY) as own:
        asked, _ = tickets(*WORDS, count=8, seed=5)
        expected = ContinualClassifier.load(saved, features=FACTORY).predict(asked).tolist()
        status, body = own.post("/predict", inputs=asked)
        assert (status, [answer["label"] for answer in body["answers"]]) == (200, expected)
        assert own.get("/model")[1]["input_type"] == "text"
        texts, _ = tickets("fees", count=30, seed=3)
        new = [f"zebra zoo {text}" for text in texts]
        assert own.post("/learn", inputs=new, labels=["animals"] * 30, task="zoo", id="zoo")[0] == 202
        own.learned()
        assert own.get("/learn/zoo")[1]["state"] == "learned"
        after = own.post("/predict", inputs=["zebra zoo please help", *asked])[1]["answers"]
        assert after[0]["label"] == "animals"
        assert own.post("/feedback", answer=after[0]["id"], label="animals")[0] == 202
        own.learned()
    with serving(saved, tmp_path / "state", features=FACTORY) as again:
        assert again.post("/predict", inputs=["zebra zoo please help"])[1]["answers"][0]["label"] == "animals"


WRONG = [
    ({"inputs": [7]}, "Input 0 is 7, which is no text; give a text for each input."),
    ({"inputs": ["a card", None]}, "Input 1 is None, which is no text; give a text for each input."),
    ({"inputs": [["a card"]]}, "Input 0 is ['a card'], which is no text; give a text for each input."),
    ({"inputs": []}, "inputs is []; give a list with an entry of one text for each input."),
    ({"inputs": "a card"}, "inputs is 'a card'; give a list with an entry of one text for each input."),
    (
        {"inputs": ["x" * (LONGEST_TEXT + 1)]},
        "Input 0 has 20,001 characters; a text may have 20,000: send its beginning.",
    ),
    (
        {"inputs": [{"message": "a card"}]},
        "Input 0 is an object, but the model's columns have no names; give a text for each input.",
    ),
]


@pytest.mark.parametrize("path", ["/predict", "/learn"])
@pytest.mark.parametrize(("body", "sentence"), WRONG, ids=[sentence[:30] for _, sentence in WRONG])
def test_what_is_no_text_is_refused(client, path, body, sentence):
    labels = {"labels": ["card"]} if path == "/learn" else {}
    assert client.post(path, **body, **labels) == (422, {"error": sentence})
    assert client.service.journal.last() == 0


def test_labels_of_texts_are_texts(client):
    assert client.post("/learn", inputs=["a card"], labels=[1]) == (
        422, {"error": "Label 1 is no text; the model's labels are text."},
    )  # fmt: skip


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "🦓" * 50])
def test_strange_texts_are_answered_or_refused(client, text):
    status, body = client.post("/predict", inputs=[text])
    assert status == 200 or (status == 422 and body["error"].endswith("."))


def test_features_are_named_by_whoever_starts_the_service(saved, tmp_path):
    with pytest.raises(UsageError, match="which it does not hold; if you trust what computes them, say so"):
        Service(saved, tmp_path / "state")
    assert not (tmp_path / "state").exists()
