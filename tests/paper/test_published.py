import pytest

from merlin_cl.errors import UsageError
from merlin_cl.paper.published import headline, published, table_ids


def test_numbers_are_found_by_table_method_benchmark_and_metric():
    assert published("main", "single", "split-mnist", "A").mean == 44.8
    assert published("main", "merlin", "split-mnist", "F").std == 1.2
    assert published("params", "merlin", "split-mnist", "params-vae").mean == 31426
    assert published("params", "merlin", "split-mnist", "params-vae").std is None


def test_cells_the_paper_leaves_empty_and_cells_it_does_not_have_are_none():
    assert published("main", "icarl", "permuted-mnist", "A") is None
    assert published("main", "merlin", "rotated-mnist", "A") is None
    assert published("ensemble", "merlin", "split-mnist", "A") is None  # needs models=...


def test_unknown_table_suggests_the_nearest():
    with pytest.raises(UsageError, match="'variants'"):
        published("variant", "merlin", "split-mnist", "A")


def test_mean_of_the_task_wise_rows_is_the_main_number():
    """The paper's A is the mean over k of A_k , as its own tables show."""
    for benchmark, tasks in (("split-mnist", 5), ("permuted-mnist", 10), ("split-cifar10", 5)):
        cells = [
            published(f"taskwise-{benchmark}", "merlin", benchmark, "task-accuracy", task=k + 1) for k in range(tasks)
        ]
        assert sum(cell.mean for cell in cells) / tasks == pytest.approx(
            published("main", "merlin", benchmark, "A").mean, abs=0.15
        )


def test_headline_compares_like_with_like():
    assert "main" in table_ids()
    assert headline("merlin", "split-mnist", "class-incremental", "marginal").mean == 90.7
    assert headline("merlin", "split-mnist", "task-masked", "aware").mean == 97.4
    assert headline("merlin", "permuted-mnist", "domain-incremental", "aggregate").mean == 85.5
    assert headline("single", "split-mnist", "class-incremental", None).mean == 44.8
    assert headline("single", "split-mnist", "task-masked", None) is None
    assert headline("cn-dpm", "split-mnist", "class-incremental", None).mean == 92.12
    assert headline("gss", "audio-mnist", "task-masked", None).mean == 92.81
    assert headline("merlin", "split-cifar100-20", "task-masked", "marginal").mean == 64.83
    assert headline("gdumb-ensemble", "split-mnist", "class-incremental", None) is None
