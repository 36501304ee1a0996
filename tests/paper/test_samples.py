"""The paper's own figures, from a small run of its recipe: loss curves, and samples of the tasks' priors."""

import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.paper.cells import cells_of
from merlin_cl.paper.experiment import experiment
from merlin_cl.paper.losses import curves_with_total, ends
from merlin_cl.paper.samples import SAMPLES, Samples, embedded, samples_of, separation
from merlin_cl.paper.trials import TrialOptions, trials
from merlin_cl.report.reproduction import Reproduction
from merlin_cl.report.reproduction_files import write_files
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.progress import PlainDisplay
from merlin_cl.runs.run import run
from merlin_cl.streams.registry import stream_settings

EPOCHS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    stream = stream_settings("split-mnist")(tasks=2, images_per_task=30)
    small = {"base_models": 2, "models": 2, "fine_tune_epochs": 1, "vae_epochs": EPOCHS, "classification_loss": True}
    method = replace(MerlinPaperSettings.preset("default", stream.info()), **small)
    config = RunConfig(stream, method, inference="aggregate")
    return run(config, tmp_path_factory.mktemp("figures"), PlainDisplay(io.StringIO()))


def test_losses_add_up_step_by_step_where_they_have_as_many_steps(folder):
    curves = curves_with_total(folder)
    assert set(curves) == {"negative_elbo", "classification", "total"}
    for task in (0, 1):
        parts = np.array([curves["negative_elbo"][task], curves["classification"][task]])
        assert parts.shape == (2, EPOCHS)
        assert curves["total"][task] == pytest.approx(parts.sum(axis=0))
    assert ends(curves)["total, last step"] == pytest.approx(np.mean([curves["total"][task][-1] for task in (0, 1)]))
    longer = SimpleNamespace(events=lambda: [{"event": "losses", "task": 0, "curves": {"a": [1.0, 2.0], "b": [1.0]}}])
    assert set(curves_with_total(longer)) == {"a", "b"}


def test_samples_are_those_of_the_learner_and_always_the_same(folder):
    first, second = samples_of(folder), samples_of(folder)
    assert first.latents.shape[0] == first.weights.shape[0] == len(first.tasks) == 2 * SAMPLES
    assert np.array_equal(first.weights, second.weights)
    assert all(0 <= share <= 100 for share in separation(first).values())


def test_separation_tells_tasks_that_are_apart_from_tasks_that_are_not():
    random = np.random.default_rng(0)
    tasks = np.repeat(np.arange(2), 50)
    apart, mixed = tasks[:, None] * 100.0 + random.normal(size=(100, 3)), random.normal(size=(100, 3))
    shares = list(separation(Samples(tasks, apart, mixed)).values())
    assert shares[0] == 100.0
    assert 20 < shares[1] < 80
    assert embedded(Samples(tasks, apart, apart)).shape == (100, 2)


@pytest.mark.parametrize("name", ["vae-loss", "priors"])
def test_figures_are_drawn_from_a_run(name, folder, tmp_path):
    (trial,) = trials(experiment(name), TrialOptions())
    assert len(trial.configs) == 1
    trial.folders[0] = folder
    cells = cells_of(trial)
    assert all(cell.values for cell in cells)
    written = write_files(Reproduction(experiment(name), cells), [trial], tmp_path / name)
    assert {path.suffix for path in written} == {".csv", ".md", ".tex", ".svg", ".pdf"}


@pytest.mark.parametrize("name", ["vae-loss", "priors"])
def test_without_a_run_there_is_a_reason_and_no_figure(name, tmp_path):
    (trial,) = trials(experiment(name), TrialOptions())
    trial.reason = "no data"
    reproduction = Reproduction(experiment(name), cells_of(trial))
    assert [cell.reason for cell in reproduction.cells] == ["no data"]
    assert {path.suffix for path in write_files(reproduction, [trial], tmp_path / name)} == {".csv", ".md", ".tex"}
