"""Whoever listens to a run hears every event that its folder has, after it was written."""

from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.run import run
from merlin_cl.streams.settings import SplitMnistSettings


def test_listeners_hear_what_is_in_the_log(config, tmp_path, silent):
    heard, written = [], []

    def listen(folder, event):
        heard.append(event)
        written.append(folder.events()[-1])

    done = run(config, tmp_path, silent, listeners=[listen])
    assert heard == written == done.events()
    assert heard[-1]["event"] == "finished"


def test_losses_of_the_paper_s_vae_are_logged_task_by_task(tmp_path, silent):
    small = {"base_models": 2, "models": 2, "fine_tune_epochs": 1, "vae_epochs": 7, "hidden_units": (5,)}
    stream = SplitMnistSettings(tasks=2, images_per_task=20)
    folder = run(RunConfig(stream, MerlinPaperSettings(**small), inference="aggregate"), tmp_path, silent)
    losses = [event for event in folder.events() if event["event"] == "losses"]
    assert [event["task"] for event in losses] == [0, 1]
    for event in losses:
        assert {name: len(curve) for name, curve in event["curves"].items()} == {"negative_elbo": 7}
