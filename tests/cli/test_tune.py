import json
from pathlib import Path

from merlin_cl.cli.tune import TuneOptions


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
    code, _, err = merlin("tune", "merlin")
    assert code == 2
    assert "merlin names no settings to search; choose from: gdumb, single" in err
    code, _, err = merlin("tune", "er", "split-mnist", "--tasks", "9")
    assert code == 2
    assert "tasks is 9; split-mnist has at most 5 tasks" in err
    assert TuneOptions("er").tasks == 3
