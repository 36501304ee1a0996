"""What the default keeps is smaller than one classifier, and of the form that its bytes allow."""

from dataclasses import replace

import pytest

from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.merlin.task2vec import WIDTH
from merlin_cl.streams.registry import stream_settings


@pytest.mark.parametrize(
    "stream", ["split-mnist", "permuted-mnist", "split-cifar10", "split-cifar100", "split-cifar100-20"]
)
def test_the_default_meta_model_is_smaller_than_one_classifier(stream):
    info = stream_settings(stream)().info()
    learner = MerlinSettings.preset("default", info).build(info, seed=0)
    stored = learner.stored_bytes()
    assert stored["meta_model"] + stored["priors"] < 4 * learner.parameters()["classifier"]


@pytest.mark.parametrize(("stream", "rank"), [("split-mnist", 48), ("permuted-mnist", 48), ("split-cifar10", 32)])
def test_bases_have_as_many_directions_as_the_bytes_allow(stream, rank):
    info = stream_settings(stream)().info()
    form = MerlinSettings.preset("default", info).build(info, seed=0).distribution.vae.decoder.form
    assert (form.rank, form.a_byte) == (rank, frozenset())


def test_where_few_fit_bases_have_all_entries_with_fewer_values_in_the_largest_layers():
    info = stream_settings("split-cifar100")().info()
    learner = MerlinSettings.preset("default", info).build(info, seed=0)
    form = learner.distribution.vae.decoder.form
    assert form.whole == set(learner.network.shapes)
    coarser = {name: a_byte for name, a_byte in form.a_byte if a_byte > 2}
    assert coarser == {"blocks.3.second.convolution.weight": 5, "blocks.3.first.convolution.weight": 3}


def test_where_not_even_three_values_fit_signs_are_kept_of_the_largest_layers():
    info = stream_settings("split-cifar100-20")().info()
    form = MerlinSettings.preset("default", info).build(info, seed=0).distribution.vae.decoder.form
    signs = {name for name, a_byte in form.a_byte if a_byte == 8}
    assert signs == {"blocks.3.second.convolution.weight", "blocks.3.first.convolution.weight"}
    assert {a_byte for name, a_byte in form.a_byte if name not in signs} == {5}


@pytest.mark.parametrize("stream", ["split-mnist", "split-cifar100"])
def test_descriptors_count_among_what_must_be_smaller_than_one_classifier(stream):
    info = stream_settings(stream)().info()
    described = replace(MerlinSettings.preset("default", info), descriptor="task2vec")
    learner = described.build(info, seed=0)
    stored, of_descriptors = learner.stored_bytes(), 4 * WIDTH * info.tasks
    of_priors = (8 * info.tasks + 4) * info.tasks
    assert stored["meta_model"] + of_priors + of_descriptors <= 4 * learner.parameters()["classifier"]
