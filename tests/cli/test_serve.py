"""`merlin serve`, as far as it goes without serving: what it refuses before it begins."""

from pathlib import Path

import pytest

from estimator.small import clouds
from merlin_cl import ContinualClassifier


@pytest.fixture
def model(merlin):
    return ContinualClassifier("slda").partial_fit(*clouds(0, 1)).save("model")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["nowhere"], "nowhere is not there; give a saved learner or the folder of a run that has ended."),
        (["notes.txt"], "notes.txt is no learner that merlin-cl has saved"),
        (["model", "--keep", "0"], "--keep is 0; give a number above 0."),
        (["model", "--rate", "-1"], "--rate is -1.0; give a number above 0."),
        (["model", "--port", "99999"], "Port 99999 does not exist; choose one from 1024 to 65535"),
        (["model", "--host", "no.such.host.invalid"], "no.such.host.invalid port 8478 cannot be used ("),
        (["model", "--token-file", "none"], "The token cannot be read from none ("),
        (["model", "--token-file", "notes.txt"], "notes.txt holds no token; put at least 16 letters and digits there"),
        (["model", "--device", "abacus"], "Device 'abacus' is not available here"),
        (["model", "--stat", "x"], "did you mean '--state'?"),
        ([], "MODEL is missing"),
    ],
)
def test_what_cannot_be_served_is_refused_and_leaves_nothing(merlin, model, options, sentence):
    Path("notes.txt").write_text("a b")
    code, out, err = merlin("serve", *options)
    assert code in (1, 2)
    assert sentence in err
    assert out == ""
    assert not Path("model.serve").exists()


def test_without_the_server_library_it_says_what_to_install(merlin, model, monkeypatch):
    import importlib.util

    whole = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "uvicorn" else whole(name, *more)
    )
    code, _, err = merlin("serve", "model")
    assert code == 2
    assert "pip install 'merlin-cl[serve]'" in err
