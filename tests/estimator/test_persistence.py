"""A saved learner goes on as if it had never been saved, and a file that is not one is refused in a sentence."""

import json
import os
import random

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from merlin_cl import ContinualClassifier, MerlinClassifier
from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.learners.registry import method_names
from merlin_cl.learners.saving import format as file_format
from merlin_cl.learners.saving.saved import SavedLearner

from .small import clouds, merlin, rival

pytestmark = pytest.mark.usefixtures("short_fits")


class Harmless(torch.nn.Linear):
    """A network of the user's own."""

    def __init__(self, shape, classes):
        super().__init__(shape[0], classes)


def test_learning_goes_on_bit_for_bit_at_any_moment(tmp_path):
    """Within a task, just after one, before a class and a task that there was no room for."""
    names = np.array(["ant", "bee", "cat", "dog", "eel", "fly", "gnu"])
    steps = [((0, 1), False), ((1, 2), True), ((3, 4), False), ((5, 6), True)]
    whole = merlin(expected_tasks=1)
    interrupted = merlin(expected_tasks=1)
    for number, (group, ends) in enumerate(steps):
        for model in (whole, interrupted):
            x, y = clouds(*group)
            model.partial_fit(x, names[y])
        interrupted = MerlinClassifier.load(interrupted.save(tmp_path / f"{number}.safetensors"))
        if ends:
            whole.end_task()
            interrupted.end_task()
            interrupted = MerlinClassifier.load(interrupted.save(tmp_path / f"{number}.safetensors"))
    x, _ = clouds(*range(7))
    np.testing.assert_array_equal(whole.classes_, interrupted.classes_)
    assert whole.tasks_ == interrupted.tasks_
    np.testing.assert_array_equal(whole.predict_proba(x), interrupted.predict_proba(x))
    assert whole.get_params() == interrupted.get_params()


@pytest.mark.parametrize("method", [name for name in method_names() if name != "merlin"])
def test_every_method_can_be_saved(method, tmp_path):
    generative = {"likelihood": "gaussian"} if method in ("cn-dpm", "generative-replay") else {}
    narrow = {"width": 50} if method in ("klda", "ranpac") else {}
    model = rival(method, **generative, **narrow).partial_fit(*clouds(0, 1), classes=range(4))
    model.end_task()
    model.partial_fit(*clouds(2, 3))
    loaded = ContinualClassifier.load(model.save(tmp_path / "model"))
    for one in (model, loaded):
        one.partial_fit(*clouds(2, 3, seed=1))
        one.end_task()
    np.testing.assert_array_equal(
        model.predict_proba(clouds(0, 1, 2, 3)[0]), loaded.predict_proba(clouds(0, 1, 2, 3)[0])
    )


@pytest.mark.parametrize("boundaries", ["detected", 25])
def test_what_finds_boundaries_goes_on_as_well(boundaries, tmp_path):
    def stream():
        for group in ((0, 1), (2, 3), (4, 5)):
            yield from (clouds(*group, count=70, seed=seed) for seed in range(4))

    models = [rival("er") for _ in range(2)]
    for number, (x, y) in enumerate(stream()):
        for model in models:
            model.set_params(boundaries=boundaries).partial_fit(x, y)
        models[1] = ContinualClassifier.load(models[1].save(tmp_path / str(number)))
    assert models[0].tasks_ == models[1].tasks_
    assert len(models[0].tasks_) >= 3
    np.testing.assert_array_equal(*(model.predict_proba(x) for model in models))


def test_tables_keep_the_names_of_their_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    x, y = clouds(0, 1)
    frame = pandas.DataFrame(x, columns=list("abcdef"))
    model = ContinualClassifier.load(rival("er").fit(frame, y).save(tmp_path / "model"))
    assert list(model.feature_names_in_) == list("abcdef")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("fedcba")])


def test_the_header_can_be_read_without_us(tmp_path):
    path = merlin().fit(*clouds(0, 1)).save(tmp_path / "model.safetensors")
    content = path.read_bytes()
    metadata = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    header = json.loads(metadata["header"])
    assert (metadata["kind"], metadata["version"]) == ("merlin-cl learner", "2")
    assert header["method"] == "merlin"
    assert header["classes"] == [0, 1]
    assert header["settings"]["models"] == 3
    assert len(metadata["checksum"]) == 64


def test_exemplars_are_kept_as_bytes_and_the_file_is_small(tmp_path):
    """The size of Split MNIST: 784 bytes an image, 200 of them, networks of 89,610 weights."""
    draws = np.random.default_rng(0)
    model = MerlinClassifier(base_models=2, models=2, updates_per_batch=1, expected_tasks=5)
    x, y = draws.integers(0, 256, (400, 28, 28), dtype=np.uint8), np.arange(400) % 10
    model.partial_fit(x, y)
    model.end_task()
    assert model.learner_.memory.x.dtype == torch.uint8
    path = model.save(tmp_path / "model.safetensors")
    assert path.stat().st_size < 2_000_000
    np.testing.assert_array_equal(MerlinClassifier.load(path).predict(x[:20]), model.predict(x[:20]))


def test_writing_is_whole_or_not_at_all(tmp_path, monkeypatch):
    model = rival("single").fit(*clouds(0, 1))
    path = model.save(tmp_path / "model.safetensors")
    before = path.read_bytes()
    model.partial_fit(*clouds(2))

    def killed(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", killed)
    with pytest.raises(MerlinError, match="No space left"):
        model.save(path)
    assert path.read_bytes() == before
    monkeypatch.undo()
    with pytest.raises(MerlinError, match="choose another place"):
        model.save(tmp_path / "no" / "such" / "folder")


def test_a_network_of_ones_own_is_not_imported_unless_named(tmp_path, monkeypatch):
    named = f"{__name__}:Harmless"
    path = rival("single", network=named).fit(*clouds(0, 1)).save(tmp_path / "model.safetensors")
    monkeypatch.setattr("merlin_cl.networks.choice.resolve", lambda name: pytest.fail(f"{name} was imported"))
    with pytest.raises(UsageError, match="if you trust it"):
        ContinualClassifier.load(path)
    monkeypatch.undo()
    assert ContinualClassifier.load(path, network=named).score(*clouds(0, 1)) > 0.5


def test_the_wrong_class_and_other_files_are_refused(tmp_path):
    path = rival("single").fit(*clouds(0, 1)).save(tmp_path / "model.safetensors")
    with pytest.raises(UsageError, match=r"ContinualClassifier\.load"):
        MerlinClassifier.load(path)
    with pytest.raises(MerlinError, match="No such file"):
        ContinualClassifier.load(tmp_path / "elsewhere")
    foreign = tmp_path / "foreign.safetensors"
    foreign.write_bytes(save_tensors({"a": torch.ones(2)}, {"made": "by somebody else"}))
    with pytest.raises(MerlinError, match="no learner that merlin-cl has saved"):
        ContinualClassifier.load(foreign)


def test_a_newer_format_asks_for_an_upgrade(tmp_path, monkeypatch):
    model = rival("single").fit(*clouds(0, 1))
    monkeypatch.setattr(file_format, "VERSION", 99)
    path = model.save(tmp_path / "model.safetensors")
    monkeypatch.undo()
    with pytest.raises(MerlinError, match=rf"newer merlin-cl .format 99; this one reads up to {file_format.VERSION}"):
        ContinualClassifier.load(path)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.safetensors"
    model = merlin().partial_fit(*clouds(0, 1))
    model.end_task()
    return model.save(path).read_bytes()


def refused(content):
    """Whether bytes are refused with one sentence; anything but a `MerlinError` fails the test."""
    sentence = ""
    try:
        SavedLearner.made(*file_format.from_bytes(content, "the file"), "the file")
    except MerlinError as error:
        sentence = str(error)
    assert not sentence or sentence.endswith(".")
    return bool(sentence)


def test_every_flipped_byte_is_noticed(content):
    draws = random.Random(0)
    for place in [*range(0, 600, 3), *draws.sample(range(len(content)), 400)]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << draws.randrange(8)
        assert refused(bytes(damaged)), place


def test_every_cut_is_noticed(content):
    for length in [*range(0, 200, 7), *range(200, len(content), max(1, len(content) // 60)), len(content) - 1]:
        assert refused(content[:length])
    assert refused(content + b"\0")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_noise_is_refused(noise):
    assert refused(noise)
    assert refused(len(noise).to_bytes(8, "little") + noise)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def paths_of(value, here=()):
    """Every place in nested JSON."""
    yield here
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths_of(inner, (*here, key))


def with_changed(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = with_changed(value[path[0]], path[1:], new)
    return copy


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), new=JSON)
def test_a_forged_header_with_the_right_checksum_is_refused_or_harmless(content, data, new):
    header, state = file_format.from_bytes(content, "the file")
    path = data.draw(st.sampled_from(list(paths_of(header))))
    forged = with_changed(header, path, new)
    if isinstance(forged, dict):
        refused(file_format.to_bytes(forged, state))  # anything but a sentence or a learner fails


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), new=JSON)
def test_a_forged_state_with_the_right_checksum_is_refused_or_harmless(content, data, new):
    header, state = file_format.from_bytes(content, "the file")
    places = [path for path in paths_of(state) if path]
    refused(file_format.to_bytes(header, with_changed(state, data.draw(st.sampled_from(places)), new)))


def test_a_file_that_asks_for_more_memory_than_any_learner_has_is_refused(content):
    header, state = file_format.from_bytes(content, "the file")
    for path, value in ((("stream", "classes"), 10**9), (("stream", "input_shape"), [10**6, 10**6])):
        with pytest.raises(MerlinError, match="is damaged"):
            SavedLearner.made(with_changed(header, path, value), state, "the file")


def test_no_tensor_in_the_file_is_pickled(content):
    assert all(isinstance(value, torch.Tensor) for value in load_tensors(content).values())
    assert b"cnumpy" not in content
    assert b"pickle" not in content
