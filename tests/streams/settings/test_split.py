"""Properties of every split stream: what a seed decides, what is scored, what is held out, which classes arrive when."""

from collections import Counter

import pytest
import torch

from merlin_cl.errors import InputError, UsageError
from merlin_cl.streams import stream_settings
from merlin_cl.streams.class_lists import official_classes, paper_classes
from merlin_cl.streams.datasets import open_data_set
from merlin_cl.streams.settings import SplitCifar10Settings, SplitCifar100Settings, SplitMiniImageNetSettings
from streams import official

SMALL = {
    "split-mnist": {"images_per_task": 40},
    "split-fashion-mnist": {"images_per_task": 40},
    "split-cifar10": {"images_per_task": 20},
    "split-cifar100": {"images_per_task": 30},
    "split-cifar100-20": {"images_per_task": 20},
    "split-miniimagenet": {"images_per_task": 40, "image_size": 12, "tasks": 4},
    "split-miniimagenet-20": {"images_per_task": 20, "image_size": 12, "tasks": 4},
    "audio-mnist": {"images_per_task": 10, "image_size": 16},
}
every_stream = pytest.mark.parametrize("name", SMALL)


def small(name, **changes):
    return stream_settings(name)(**{**SMALL[name], **changes})


def trained(task):
    x, y = zip(*task.batches(7), strict=True)
    return torch.cat(x), torch.cat(y)


def images(x):
    """Images as things that can be counted."""
    return Counter(image.numpy().tobytes() for image in x)


@every_stream
@pytest.mark.parametrize("evaluation", ["test", "held-out"])
def test_shapes_types_and_labels_are_as_announced(name, evaluation, data):
    settings = small(name, evaluation=evaluation)
    built = settings.build(0, data)
    assert built.info == settings.info()
    assert len(built.class_names) == built.info.classes
    seen = set()
    for task in built:
        assert task.train_count == settings.images_per_task
        for x, y in (trained(task), task.test()):
            assert x.dtype == torch.uint8
            assert tuple(x.shape) == (len(y), *built.info.input_shape)
            assert set(y.tolist()) <= set(task.info.classes)
        assert not seen & set(task.info.classes)
        seen |= set(task.info.classes)


@every_stream
def test_same_seed_same_stream_other_seed_other_draw(name, data):
    one, same, other = (small(name).build(seed, data) for seed in (3, 3, 4))
    for first, second in zip(one, same, strict=True):
        assert first.info == second.info
    drawn, again, different = (trained(stream[1]) for stream in (one, same, other))
    assert drawn[0].equal(again[0])
    assert drawn[1].equal(again[1])
    assert not drawn[0].equal(different[0])


@every_stream
def test_a_task_does_not_depend_on_earlier_ones_nor_on_how_many_follow(name, data):
    walked, alone = small(name).build(0, data), small(name, tasks=2).build(0, data)
    trained(walked[0])
    walked[0].test()
    assert trained(walked[1])[0].equal(trained(alone[1])[0])
    assert walked[1].test()[0].equal(alone[1].test()[0])


@every_stream
def test_every_test_example_of_the_classes_is_scored(name, data):
    settings = small(name)
    built = settings.build(0, data)
    labels = Counter(open_data_set(settings.data_set, data).read("test").labels.tolist())
    official_names = official_classes(settings.data_set)
    for task in built:
        scored = Counter(built.class_names[label] for label in task.test()[1].tolist())
        names = [built.class_names[label] for label in task.info.classes]
        assert scored == {name: labels[official_names.index(name)] for name in names}


@every_stream
def test_held_out_examples_are_of_the_training_part_and_not_trained_on(name, data):
    tested, held_out = (small(name, evaluation=evaluation).build(1, data) for evaluation in ("test", "held-out"))
    for one, other in zip(tested, held_out, strict=True):
        scored = images(other.test()[0])
        drawn = trained(other)[0]
        assert drawn.equal(trained(one)[0])
        assert scored
        assert not scored & images(drawn)
        assert not scored & images(one.test()[0])


@pytest.mark.parametrize("name", ["split-cifar10", "split-cifar100", "split-miniimagenet"])
def test_held_out_never_opens_the_test_part(name, data, monkeypatch):
    settings = small(name, evaluation="held-out")
    source = open_data_set(settings.data_set, data)
    opened = []
    object.__setattr__(source, "read", lambda part, read=source.read: opened.append(part) or read(part))
    monkeypatch.setattr("merlin_cl.streams.benchmarks.split.open_data_set", lambda *arguments: source)
    settings.build(0, data)
    assert opened == ["train"]


def test_labels_follow_the_images(data):
    """An image has the output of its class, whatever the order of classes."""
    part = open_data_set("cifar100", data).read("train")
    of_image = dict(zip((image.numpy().tobytes() for image in part.x), part.labels.tolist(), strict=True))
    for order in ("paper", "official", "shuffled"):
        built = small("split-cifar100", class_order=order).build(5, data)
        for task in built:
            for image, label in zip(*trained(task), strict=True):
                assert built.class_names[label] == official_classes("cifar100")[of_image[image.numpy().tobytes()]]


def test_class_orders(data):
    def order(choice, seed=0):
        return small("split-cifar100", class_order=choice).build(seed, data).class_names

    assert order("paper") == paper_classes("cifar100")
    assert order("official") == official_classes("cifar100")
    assert sorted(order("shuffled")) == sorted(order("official"))
    assert order("shuffled") == order("shuffled")
    assert len({order("paper"), order("official"), order("shuffled", 0), order("shuffled", 1)}) == 4


def test_own_class_order(data):
    built = small("split-cifar10", tasks=2, class_order="ship, cat,frog,dog").build(0, data)
    assert [task.info.name for task in built] == ["ship and cat", "frog and dog"]
    assert built.info.classes == 10


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ("papper", "Unknown class order 'papper'; did you mean 'paper'"),
        ("cat,dgo", "Unknown class of split-cifar10 'dgo'; did you mean 'dog'"),
        ("cat,dog,frog,cat", "gives 'cat' to task 0 and again to task 1"),
        ("cat,dog,ship", "names 3 classes, but 2 tasks of 2 need 4"),
    ],
)
def test_senseless_class_orders_are_refused(order, sentence):
    with pytest.raises(UsageError, match=sentence):
        SplitCifar10Settings(tasks=2, class_order=order)


def test_paper_protocol():
    info = SplitCifar100Settings().info()
    assert (info.input_shape, info.classes, info.tasks) == ((3, 32, 32), 100, 10)
    assert SplitCifar100Settings().images_per_task == 2500
    info = SplitMiniImageNetSettings().info()
    assert (info.input_shape, info.classes, info.tasks) == ((3, 84, 84), 100, 10)
    assert stream_settings("split-cifar100-20")().info().tasks == 20
    assert stream_settings("split-miniimagenet-20")().info().tasks == 20
    with pytest.raises(UsageError, match="split-cifar100-20 has at most 20 tasks"):
        stream_settings("split-cifar100-20")(tasks=21)
    with pytest.raises(UsageError, match="image_size is 0"):
        SplitCifar10Settings(image_size=0)


def test_images_are_resized(data):
    built = small("split-cifar10", image_size=16).build(0, data)
    full = small("split-cifar10").build(0, data)
    small_image, image = built[0].test()[0][0].float(), full[0].test()[0][0].float()
    assert small_image.shape == (3, 16, 16)
    assert abs(small_image.mean() - image.mean()) < 3
    assert small_image.std() < image.std()  # averaged, not picked


def test_too_few_images_name_the_task(data):
    with pytest.raises(
        UsageError, match=r"images_per_task is 61, but task 0 of split-cifar100 has 60 in .*cifar-100-python"
    ):
        small("split-cifar100", images_per_task=61).build(0, data)
    with pytest.raises(UsageError, match=r"No image of .* is left to score task 0 of split-cifar100"):
        small("split-cifar100", images_per_task=60, evaluation="held-out").build(0, data)


def test_zero_images_a_task_are_all_there_are(data):
    every, drawn = (small("split-cifar100", images_per_task=count).build(0, data) for count in (0, 60))
    assert [task.train_count for task in every] == [60] * len(every)
    for all_of_them, as_many in zip(every, drawn, strict=True):
        for (x, y), (other_x, other_y) in zip(all_of_them.batches(10), as_many.batches(10), strict=True):
            assert torch.equal(x, other_x)
            assert torch.equal(y, other_y)
    with pytest.raises(UsageError, match=r"images_per_task is -1; it must be a whole number, 0 for all there are\."):
        small("split-cifar100", images_per_task=-1)


def test_missing_classes_are_all_named_and_fewer_tasks_work(tmp_path):
    there = [official_classes("mini-imagenet").index(name) for name in paper_classes("mini-imagenet")[:20]]
    official.write_mini_imagenet(tmp_path, classes=there)
    settings = {"images_per_task": 20, "image_size": 12}
    assert len(SplitMiniImageNetSettings(tasks=2, **settings).build(0, tmp_path)) == 2
    missing = ", ".join(paper_classes("mini-imagenet")[20:40])
    with pytest.raises(InputError, match=rf"of 20 classes .* in tasks 2, 3: {missing}; lower tasks to 2, or"):
        SplitMiniImageNetSettings(tasks=4, **settings).build(0, tmp_path)


def test_a_class_without_test_images_is_named(tmp_path):
    folder = official.write_cifar100(tmp_path)
    rows, labels = official.batch(198, 99, seed=1)
    (folder / "test").write_bytes(official.python2_pickle(rows, "fine_labels", labels))
    with pytest.raises(InputError, match=r"no test images of 1 class .* in task 6: worm"):
        small("split-cifar100").build(0, tmp_path)


def test_missing_data_say_how_to_get_them(tmp_path):
    with pytest.raises(InputError, match=r"no CIFAR-10 in .*\(looked for .*\); `merlin data get cifar10` fetches it"):
        small("split-cifar10").build(0, tmp_path)
    with pytest.raises(InputError, match="`merlin data get mini-imagenet` says how"):
        small("split-miniimagenet").build(0)
