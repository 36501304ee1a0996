import json
import shlex
from pathlib import Path

from merlin_cl.cli.tune import planned
from merlin_cl.learners.means import means_for


def test_tune_writes_what_it_chose_and_says_what_to_type_next(merlin):
    arguments = ["tune", "slda", "split-mnist", "--trials", "2", "--tasks", "2", "--seeds", "7"]
    code, out, err = merlin(*arguments)
    assert code == 0, err
    (chosen,) = Path("tuning").glob("*/split-mnist-slda.json")
    record = json.loads(chosen.read_text())
    assert "with the defaults" in out
    assert f"Written to {chosen}" in err
    assert f"Next: merlin run split-mnist --method slda --shrinkage {record['settings']['shrinkage']}" in err
    code, out, err = merlin(*arguments, "--json")
    assert code == 0
    assert json.loads(out) == record
    assert "2 trials were made before" in err


def test_tune_says_what_is_wrong(merlin):
    assert merlin("tune")[0] == 2
    code, _, err = merlin("tune", "gdumb-ensemble")
    assert code == 2
    assert "gdumb-ensemble names no settings to search; choose from: merlin, lookup, gdumb, single" in err
    code, _, err = merlin("tune", "er", "split-mnist", "--tasks", "9")
    assert code == 2
    assert "tasks is 9; split-mnist has at most 5 tasks" in err
    code, _, err = merlin("tune", "er", "split-mnist", "--evaluation", "test")
    assert code == 2
    assert "no test data" in err


def test_photographs_can_be_searched_too():
    _, plan = planned(["er", "split-cifar10", "--images-per-task", "100"])
    assert (plan.info.tasks, plan.stream.images_per_task, plan.stream.evaluation) == (3, 100, "held-out")
    first = plan.settings(plan.start)
    assert first.updates_per_batch == means_for(plan.info).updates_per_batch
    assert "updates_per_batch" not in plan.space
    assert first.augmentation == "shifts-and-mirrors"


def test_own_data_can_be_searched(merlin):
    rows = ["a,b,kind"] + [f"{i % 4 + 0.1 * (i % 7)},{i % 3},{'uvwx'[i % 4]}" for i in range(80)]
    Path("plants.csv").write_text("\n".join(rows))
    asked = ["plants.csv", "--label", "kind", "--tasks", "2"]
    code, _, err = merlin("tune", "klda", *asked, "--trials", "2", "--seeds", "7")
    assert code == 0, err
    (chosen,) = Path("tuning").glob("*/plants-klda.json")
    record = json.loads(chosen.read_text())
    assert (record["stream"]["name"], record["stream"]["kind"]) == ("plants", "table")
    assert record["command"] == "merlin tune klda plants.csv --tasks 2 --label kind --trials 2 --seeds 7"
    line = next(line for line in err.splitlines() if line.startswith("Next: "))
    assert line.startswith("Next: merlin run plants.csv --method klda --tasks 2 --label kind ")
    code, _, err = merlin(*shlex.split(line.removeprefix("Next: merlin ")))
    assert code == 0, err
    Path("plants.csv").write_text("\n".join([*rows, *rows[1:]]))
    code, _, err = merlin("tune", "klda", *asked, "--trials", "3", "--seeds", "7")
    assert code == 1
    assert "were made with other data" in err
