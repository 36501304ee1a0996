"""Memory that is refused becomes a sentence that names the setting to lower, wherever it happens."""

import numpy as np
import pytest

from merlin_cl import ContinualClassifier
from merlin_cl.errors import ShortageError
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.rivals.er_settings import ERSettings
from merlin_cl.learners.shortage import shortage, shortages_explained

BEYOND = 10**17
"""Of anything: the bytes cannot be counted in 64 bits, so no machine tries."""
X = np.linspace(0, 1, 80, dtype=np.float32).reshape(20, 4)
Y = np.arange(20) % 2


@pytest.mark.parametrize(
    ("method", "setting", "doing"),
    [
        ("merlin", "base_models", "being built"),
        ("gdumb-ensemble", "models", "answering"),
        ("klda", "width", "being built"),
    ],
)
def test_a_setting_beyond_all_memory_is_named(method, setting, doing):
    model = ContinualClassifier(method=method, settings={setting: BEYOND})
    with pytest.raises(
        ShortageError, match=rf"{method} was refused .*memory while {doing}; lower {setting} \({BEYOND:,}\)\."
    ):
        model.partial_fit(X, Y).end_task().predict(X)


def test_the_setting_most_above_its_default_is_named():
    said = str(shortage(MerlinSettings(models=24, base_models=600), "answering", "tried to allocate 12500000000 bytes"))
    assert said == "merlin was refused 12.5 GB of memory while answering; lower base_models (600)."


def test_with_default_settings_the_inputs_are_named():
    assert "inputs of fewer numbers" in str(shortage(ERSettings(), "learning task 0", "out of memory"))


def test_it_is_an_error_of_memory_too():
    with pytest.raises(MemoryError), shortages_explained(ERSettings(), "answering"):
        raise MemoryError


def test_other_errors_stay_as_they_are():
    with pytest.raises(RuntimeError, match="size mismatch"), shortages_explained(ERSettings(), "answering"):
        raise RuntimeError("size mismatch")
