"""A file from a stranger imports nothing, takes no memory that it does not bring, and is refused in a sentence or works."""

import importlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.base import clone

from estimator.small import clouds, merlin, rival
from merlin_cl import ContinualClassifier
from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.learners.merlin import consolidation
from merlin_cl.learners.registry import method_names
from merlin_cl.learners.saving import format as file_format
from merlin_cl.networks.reference import is_reference
from patience import PATIENCE

from .forging import EVIL, at, mutated, paths_of, with_changed

FILES = Path(__file__).parent / "files"
"""Of the files, as the revision that wrote them had them: er had hardly learned anything."""
METHODS = [name for name in method_names() if name not in ("hnet", "slda")]  # whose files are large, and tests slow

SPECIAL = {
    "cn-dpm": {"likelihood": "gaussian"},
    "generative-replay": {"likelihood": "gaussian"},
    "ranpac": {"width": 100},  # of which a file holds the square
    "merlin-paper": {"fine_tune_epochs": 5, "vae_epochs": 3},
}


def written(method):
    model = merlin() if method == "merlin" else rival(method, **SPECIAL.get(method, {}))
    model.partial_fit(*clouds(0, 1, count=20), classes=range(4)).end_task()
    return model.partial_fit(*clouds(2, 3, count=20))


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Header and state of a file of each method."""
    folder = tmp_path_factory.mktemp("saved")
    return {method: file_format.read(written(method).save(folder / method)) for method in METHODS}


def used(path):
    """All that one does with a file."""
    model = ContinualClassifier.load(path)
    x, _ = clouds(0, 1, 2, 3)
    assert np.isfinite(model.predict_proba(x)).all()
    model.predict(x, task=model.tasks_[0])
    model.partial_fit(*clouds(2, 3, seed=1, count=20)).end_task()
    model.partial_fit(*clouds(0, 3, seed=2, count=20)).end_task()
    model.predict(x)
    clone(model).fit(*clouds(0, 1, count=20))


@pytest.mark.parametrize("seed", range(2))
def test_a_forged_file_is_refused_in_a_sentence_or_works_for_good(parts, tmp_path, seed):
    draws, path, refused = random.Random(seed), tmp_path / "forged", 0
    for _ in range(50):
        header, state = parts[draws.choice(METHODS)]
        of_header = draws.random() < 0.4
        forged = header if of_header else state
        place = draws.choice([place for place in paths_of(forged) if place])
        forged = with_changed(forged, place, mutated(at(forged, place), draws))
        path.write_bytes(file_format.to_bytes(*((forged, state) if of_header else (header, forged))))
        try:
            used(path)
        except MerlinError:
            refused += 1
        except Exception as error:
            error.add_note(f"{header['method']}, {place}")
            raise
    assert refused > 20


@pytest.fixture
def no_import(monkeypatch):
    """Nothing is imported that the test names."""
    real = importlib.import_module

    def watched(name, *rest):
        assert not name.startswith("evil"), f"{name} was imported"
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", watched)


def test_no_field_of_a_file_imports_anything(parts, tmp_path, no_import):
    """Neither loading nor learning on, nor learning afresh with the same parameters."""
    header, state = parts["er"]
    path, refused = tmp_path / "forged", set()
    nested = {"network": EVIL, "settings": {"network": EVIL, "hidden_units": [EVIL]}}
    for place in paths_of(header):
        for new in (EVIL, [EVIL], {"network": EVIL}, nested):
            if place:
                path.write_bytes(file_format.to_bytes(with_changed(header, place, new), state))
                try:
                    used(path)
                except MerlinError:
                    refused.add(place)
    assert {("settings", "network"), ("extra", "parameters", "settings"), ("method",)} <= refused


@pytest.mark.parametrize("place", [("settings", "network"), ("extra", "parameters", "network"), ("extra", "estimator")])
def test_no_field_of_merlins_file_imports_anything(parts, tmp_path, no_import, place):
    header, state = parts["merlin"]
    path = tmp_path / "forged"
    path.write_bytes(file_format.to_bytes(with_changed(header, place, EVIL), state))
    with pytest.raises(UsageError, match="if you trust it"):
        ContinualClassifier.load(path)


def test_code_that_is_named_deep_within_asks_for_trust(parts, tmp_path):
    header, state = parts["er"]
    forged = with_changed(header, ("extra", "parameters", "settings", "network"), EVIL)
    path = tmp_path / "forged"
    path.write_bytes(file_format.to_bytes(forged, state))
    with pytest.raises(UsageError, match=f"names '{EVIL}', which is code .* if you trust it"):
        ContinualClassifier.load(path)


def test_words_may_look_like_code(tmp_path):
    x, y = clouds(0, 1)
    model = rival("single").partial_fit(x, np.array(["os:system", "b:c"])[y], task="a.b:c")
    assert is_reference("os:system")
    assert list(ContinualClassifier.load(model.save(tmp_path / "model")).classes_) == ["b:c", "os:system"]


HUGE = {
    "hidden units": (("settings", "hidden_units"), [20_000, 20_000]),
    "layers": (("settings", "hidden_units"), [1] * 100_000),
    "hidden units to come": (("extra", "parameters", "hidden_units"), [20_000, 20_000]),
    "classes": (("stream", "classes"), 1_000_000),
    "named classes": (("stream", "classes"), 1_000_000),
    "inputs": (("stream", "input_shape"), [10_000, 10_000, 10]),
    "labels": (("extra", "labels"), "<U100000000"),
    "models": (("settings", "models"), 10**9),
    "base models": (("settings", "base_models"), 10**8),
    "replay": (("settings", "replay"), 10**9),
    "rehearsal": (("settings", "rehearse"), 10**9),
}
PROGRAM = """
import json, resource, sys
from merlin_cl import ContinualClassifier
from merlin_cl.errors import MerlinError
ContinualClassifier.load(sys.argv[1])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before, said = peak(), {}
for path in sys.argv[2:]:
    try:
        ContinualClassifier.load(path)
        said[path] = "loaded"
    except MerlinError as error:
        said[path] = str(error)
print(json.dumps([said, (peak() - before) / 1024]))
"""


def test_small_files_and_no_files_take_no_memory(parts, tmp_path):
    header, state = parts["merlin"]
    for name, (place, value) in HUGE.items():
        forged = with_changed(header, place, value)
        if name == "named classes":
            forged = {**forged, "classes": list(range(1_000_000))}
        (tmp_path / name).write_bytes(file_format.to_bytes(forged, state))
    with (tmp_path / "junk").open("wb") as file:
        file.write(random.Random(0).randbytes(1000))
        file.truncate(3 * 10**9)
    os.mkfifo(tmp_path / "pipe")
    whole = FILES / "er.safetensors"
    paths = [*(tmp_path / name for name in (*HUGE, "junk", "pipe")), Path("/dev/zero"), tmp_path]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, whole, *paths],
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said, megabytes = json.loads(done.stdout)
    assert not [path for path, sentence in said.items() if sentence == "loaded" or not sentence.endswith(".")]
    assert megabytes < 200


def test_what_cannot_be_loaded_is_not_saved(tmp_path):
    model = rival("gdumb", fine_tune_epochs=0).fit(*clouds(0, 1))
    object.__setattr__(model.learner_.settings, "hidden_units", (5000, 5000))
    with pytest.raises(MerlinError, match=r"cannot be saved: .* a network of 25,0\d\d,\d{3} weights"):
        model.save(tmp_path / "model")


def test_files_of_an_earlier_revision_are_read():
    """Written at revision c39af12: two tasks of two classes, the second one not ended."""
    model = ContinualClassifier.load(FILES / "er.safetensors")
    assert list(model.classes_) == [0, 1, 2, 3]
    assert model.tasks_ == [0, 1]
    x, y = clouds(0, 1, 2, 3)
    assert model.score(x, y) == 0.25
    assert model.partial_fit(*clouds(2, 3)).end_task().score(x, y) >= 0.25


def test_what_the_next_task_would_take_is_tried_where_there_is_no_room_for_it(tmp_path):
    """A learner that has met all its classes grows for the next one."""
    model = merlin().partial_fit(*clouds(0, 1, count=20)).end_task()
    header, state = file_format.read(model.save(tmp_path / "model"))
    assert ContinualClassifier.load(tmp_path / "model").learner_.stream.classes == 2
    path = tmp_path / "forged"
    path.write_bytes(file_format.to_bytes(with_changed(header, ("settings", "replay"), 10**9), state))
    with pytest.raises(MerlinError, match=r"bytes, where so small a file"):
        ContinualClassifier.load(path)


@pytest.mark.parametrize("room", [2, 4])
def test_a_trial_does_not_fit_priors_to_the_end(room, tmp_path, monkeypatch):
    """Neither where the learner has to grow for it nor where it need not: who loads a file does not wait for a task's end."""
    model = merlin().partial_fit(*clouds(0, 1, count=20), classes=[*range(room)]).end_task()
    model.save(tmp_path / "model")
    monkeypatch.setattr(consolidation, "STEPS", None)  # to take as many steps is an error
    assert ContinualClassifier.load(tmp_path / "model").learner_.stream.classes == room
    with pytest.raises(TypeError):
        model.partial_fit(*clouds(0, 1, count=20)).end_task()


def test_a_file_of_the_first_merlin_says_what_reads_it():
    with pytest.raises(MerlinError, match=r"of the merlin of version 0\.1, .*; merlin-cl 0\.1\.0 reads it\."):
        ContinualClassifier.load(FILES / "merlin.safetensors")


def test_a_learner_is_as_it_was_after_its_trial(parts, tmp_path):
    """What is tried is a twin: neither weights nor random state of the learner that is given out have moved."""
    header, state = parts["merlin"]
    path = tmp_path / "model"
    path.write_bytes(file_format.to_bytes(header, state))
    again = file_format.read(ContinualClassifier.load(path).save(tmp_path / "again"))[1]
    for place in paths_of(state):
        if isinstance(value := at(state, place), torch.Tensor):
            assert torch.equal(value, at(again, place)), place
