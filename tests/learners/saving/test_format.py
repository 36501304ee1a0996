"""Files of every released version are read for ever, or it is said what reads them.

`tools/golden_files.py` wrote them. Those of a version that is not released yet may be written again; others never change.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from merlin_cl import load
from merlin_cl.errors import MerlinError
from merlin_cl.learners.saving.contents import contents
from merlin_cl.learners.saving.format import VERSION

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*/*.safetensors"))
UNREADABLE = {"0.1.0/merlin": "a look-up of one compressed network a task.*merlin-cl 0.1.0 reads it"}
"""What this version cannot read, and what it says."""
FORMATS = {"0.1.0": 1, "0.2.0": 2}
"""The format that each version wrote."""


def name_of(path):
    return f"{path.parent.name}/{path.stem}"


def asked(path):
    record = json.loads(path.with_suffix(".json").read_text())
    inputs = record["inputs"]
    if isinstance(inputs, dict):
        return record, pytest.importorskip("pandas").DataFrame(inputs)
    return record, np.array(inputs, dtype=np.float32)


READABLE = [path for path in FILES if name_of(path) not in UNREADABLE]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("path", READABLE, ids=name_of)
def test_it_answers_as_it_did_and_goes_on_learning(path, tmp_path):
    record, x = asked(path)
    model = load(path)
    assert model.classes_.tolist() == record["classes"]
    assert model.tasks_ == record["tasks"]
    np.testing.assert_allclose(model.predict_proba(x), record["probabilities"], atol=1e-4)
    upgraded = load(model.save(tmp_path / "upgraded"))
    assert contents(tmp_path / "upgraded").format == VERSION
    labels = model.classes_[np.resize([0, 1], len(x))]
    for one in (model, upgraded):
        one.partial_fit(x, labels).end_task()
    np.testing.assert_array_equal(model.predict_proba(x), upgraded.predict_proba(x))


@pytest.mark.parametrize("path", [path for path in FILES if name_of(path) in UNREADABLE], ids=name_of)
def test_what_cannot_be_read_says_what_reads_it(path):
    with pytest.raises(MerlinError, match=UNREADABLE[name_of(path)]):
        load(path)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_what_is_in_it_can_be_told_all_the_same(path):
    told = contents(path)
    assert (told.written_by, told.format) == (path.parent.name, FORMATS[path.parent.name])
    assert told.method in path.stem or path.stem == "table-of-a-run"
    assert path.stat().st_size < 50_000


def test_there_are_files_of_every_version():
    changelog = (Path(__file__).parents[3] / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## (\d+\.\d+\.\d+)", changelog, flags=re.MULTILINE)
    assert versions
    assert {path.name for path in GOLDEN.iterdir()} == set(versions) == set(FORMATS)
