"""What the demonstration shows, and what it says of it."""

import itertools
from dataclasses import replace
from pathlib import Path

from merlin_cl.cli import demo
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings
from merlin_cl.streams.settings.split import SplitMnistSettings


def test_merlin_and_its_control_differ_in_the_method_alone():
    ours, control = demo.configurations(demo.DemoOptions(seed=3))
    assert (ours.stream, ours.seed, ours.threads) == (control.stream, control.seed, control.threads)
    assert (type(ours.method), type(control.method)) == (MerlinSettings, GDumbEnsembleSettings)
    for name in ("models", "exemplars", "fine_tune_rate", "exemplar_choice"):
        assert getattr(ours.method, name) == getattr(control.method, name)


def test_only_the_number_of_models_is_not_the_default():
    for config in demo.configurations(demo.DemoOptions()):
        usual = type(config.method).preset("default", config.stream.info())
        assert config.method == replace(usual, models=demo.MODELS)
        assert config.stream == SplitMnistSettings()


def test_it_shows_both_and_says_what_was_made_smaller(small_demo, merlin):
    code, out, err = merlin("demo")
    assert code == 0, err
    assert "merlin, marginal" in out
    assert "gdumb-ensemble" in out
    assert "To be quick, both have 10 models answer; `merlin run split-mnist` has 12." in err
    assert "Next: merlin diagnose runs/split-mnist-merlin-s0-" in err


def test_the_readme_and_the_help_say_the_same_of_the_time_it_takes(merlin):
    _, out, _ = merlin("demo", "--help")
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    assert "under a minute" in " ".join(out.replace("│", " ").split())
    (said,) = (line for line, after in itertools.pairwise(readme.splitlines()) if after == "make demo")
    assert "under a minute" in said
