"""Properties of every MNIST stream: what a seed decides, what is held out, which labels occur."""

from collections import Counter

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merlin_cl.errors import UsageError
from merlin_cl.streams.datasets import open_data_set
from merlin_cl.streams.settings import PermutedMnistSettings, RotatedMnistSettings, SplitMnistSettings

STREAMS = [SplitMnistSettings, PermutedMnistSettings, RotatedMnistSettings]
seeds = st.integers(0, 2**40)
quick = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def trained(task):
    x, y = zip(*task.batches(7), strict=True)
    return torch.cat(x), torch.cat(y)


def images(x):
    """Images as things that can be counted."""
    return Counter(image.numpy().tobytes() for image in x)


def small(stream, **changes):
    return stream(**{"tasks": 3, "images_per_task": 40, **changes})


@pytest.mark.parametrize("stream", STREAMS)
@quick
@given(seed=seeds)
def test_same_seed_same_stream(stream, mnist, seed):
    for one, other in zip(small(stream).build(seed, mnist), small(stream).build(seed, mnist), strict=True):
        assert one.info == other.info
        for first, second in zip([*trained(one), *one.test()], [*trained(other), *other.test()], strict=True):
            assert first.equal(second)


@pytest.mark.parametrize("stream", STREAMS)
def test_other_seed_other_draw(stream, mnist):
    one, other = (small(stream, tasks=1).build(seed, mnist)[0] for seed in (0, 1))
    assert images(trained(one)[0]) != images(trained(other)[0])


@pytest.mark.parametrize("stream", STREAMS)
@quick
@given(seed=seeds, index=st.integers(0, 2))
def test_a_task_does_not_depend_on_earlier_ones(stream, mnist, seed, index):
    """Nor on how many tasks follow: a resumed run sees what an unbroken one would have."""
    walked = small(stream).build(seed, mnist)
    for task in list(walked)[:index]:
        trained(task)
        task.test()
    alone = small(stream, tasks=index + 1).build(seed, mnist)
    for first, second in zip(trained(walked[index]), trained(alone[index]), strict=True):
        assert first.equal(second)


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("evaluation", ["test", "held-out"])
def test_shapes_types_and_labels_are_as_announced(stream, evaluation, mnist):
    built = small(stream, evaluation=evaluation).build(0, mnist)
    assert built.info == small(stream).info()
    for task in built:
        for x, y in (trained(task), task.test()):
            assert x.dtype == torch.uint8
            assert y.dtype == torch.int64
            assert tuple(x.shape) == (len(y), *built.info.input_shape)
            assert set(y.tolist()) <= set(task.info.classes)
        assert task.train_count == 40


@pytest.mark.parametrize("stream", STREAMS)
def test_test_set_is_every_test_image_of_the_classes(stream, mnist):
    pool = open_data_set("mnist", mnist).read("test")
    for task in small(stream).build(0, mnist):
        expected = Counter(label for label in pool.labels.tolist() if label in task.info.classes)
        assert Counter(task.test()[1].tolist()) == expected


@quick
@given(seed=seeds)
def test_split_draws_without_replacement_from_the_training_images(mnist, seed):
    pool = open_data_set("mnist", mnist).read("train")
    available = images(pool.x)
    for task in SplitMnistSettings(images_per_task=60).build(seed, mnist):
        drawn = images(trained(task)[0])
        assert drawn <= available
        assert max(drawn.values()) == 1


def unturned(stream, **changes):
    """A small stream whose images `signatures` recognises from task to task."""
    return small(stream, **changes, **({"degrees_per_task": 0.0} if stream is RotatedMnistSettings else {}))


def signatures(x):
    """Images as multisets of pixels: the same whatever the permutation."""
    return images(x.flatten(1).sort(dim=1).values)


@pytest.mark.parametrize("stream", STREAMS)
@quick
@given(seed=seeds)
def test_held_out_images_are_training_images_that_no_task_trains_on(stream, mnist, seed):
    source = open_data_set("mnist", mnist)
    tasks = list(unturned(stream, evaluation="held-out").build(seed, mnist))
    scored = signatures(torch.cat([task.test()[0] for task in tasks]))
    assert scored.keys() <= signatures(source.read("train").x).keys()
    assert not scored & signatures(source.read("test").x)
    assert not scored & signatures(torch.cat([trained(task)[0] for task in tasks]))


def test_held_out_never_opens_the_test_files(write, tmp_path):
    folder = write(tmp_path / "mnist")
    for file in folder.glob("t10k-*"):
        file.unlink()
    built = SplitMnistSettings(images_per_task=40, evaluation="held-out").build(0, tmp_path)
    assert all(len(task.test()[1]) for task in built)


def test_held_out_trains_on_what_a_tested_run_trains_on(mnist):
    for one, other in zip(
        small(SplitMnistSettings).build(3, mnist),
        small(SplitMnistSettings, evaluation="held-out").build(3, mnist),
        strict=True,
    ):
        assert trained(one)[0].equal(trained(other)[0])


@pytest.mark.parametrize("stream", [PermutedMnistSettings, RotatedMnistSettings])
def test_domain_streams_draw_afresh_for_each_task(stream, mnist):
    first, second, _ = unturned(stream).build(0, mnist)
    assert signatures(trained(first)[0]) != signatures(trained(second)[0])


def test_more_images_than_there_are_is_refused(mnist):
    with pytest.raises(UsageError, match=r"images_per_task is 500, but task 0 of split-mnist has \d+ in .*600"):
        SplitMnistSettings(images_per_task=500).build(0, mnist)


def test_nothing_left_to_hold_out_is_refused(mnist):
    with pytest.raises(UsageError, match=r"No image of .* is left to score task 0 of permuted-mnist"):
        PermutedMnistSettings(images_per_task=600, evaluation="held-out").build(0, mnist)


def test_split_pairs_the_digits_in_order(mnist):
    built = SplitMnistSettings(images_per_task=40).build(0, mnist)
    assert [task.info.classes for task in built] == [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
