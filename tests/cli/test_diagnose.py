"""The diagnosis can condemn: an empty decoder and forgotten tasks are told from tasks that are held, on real runs."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

# Small networks, few images: seconds each, but real runs on the embedded digits.
SMALL = (
    "run split-mnist --images-per-task 200 --hidden-units 10 --models 3 --fine-tune-epochs 1 --json --method "
    "merlin --base-models 2 --inference aggregate"
)


@pytest.fixture
def ran(merlin):
    """Run MERLIN with options: gives the run folder."""

    def run(options):
        code, out, err = merlin(*SMALL.split(), *options.split())
        assert code == 0, err
        return Path(json.loads(out)["folder"])

    return run


def verdict_of(merlin, folder):
    return json.loads(merlin("diagnose", folder, "--json")[1])["verdict"]


def test_on_the_papers_recipe_the_decoder_is_at_chance(ran, merlin):
    folder = ran("--preset paper --tasks 4 --vae-epochs 6 --pseudo-models 2")
    verdict = verdict_of(merlin, folder)
    assert verdict["word"] == "empty"
    assert verdict["sentences"] == ["sampled models are at chance: the decoder holds nothing"]
    _, out, err = merlin("diagnose", folder)
    assert "verdict: sampled models are at chance: the decoder holds nothing" in out
    assert "--exemplar-choice random" in err  # the control that would hold the same exemplars


def test_where_the_oldest_go_old_tasks_are_forgotten(ran, merlin):
    verdict = verdict_of(
        merlin, ran("--tasks 3 --latent 2000 --memory 1 --consolidation oldest --replay 0 --start psi_0")
    )
    assert verdict["word"] == "forgotten"
    assert verdict["tasks"][-1] == "held"
    assert verdict["sentences"][0].endswith("points between learning and the end: forgotten")


def test_what_is_held_is_said_and_drawn(ran, merlin):
    folder = ran("--tasks 3 --replay 0 --start psi_0")
    verdict = verdict_of(merlin, folder)
    assert (verdict["word"], verdict["tasks"]) == ("held", ["held"] * 3)
    assert [fact.partition(":")[0] for fact in verdict["facts"]] == ["consolidation", "models", "spread", "replay"]
    assert not list(folder.glob("diagnosis.*"))  # --json draws nothing

    control = SMALL.partition(" merlin ")[0] + " gdumb-ensemble --tasks 3"
    assert merlin(*control.split())[0] == 0
    code, out, err = merlin("diagnose", folder)
    assert code == 0
    assert "verdict: held" in out
    assert f"Written to {folder / 'diagnosis.svg'} and {folder / 'diagnosis.png'}" in err
    assert (folder / "diagnosis.png").read_bytes().startswith(b"\x89PNG")
    text = "".join(ElementTree.parse(folder / "diagnosis.svg").getroot().itertext())
    for name in ("held: sampled models end within", "gdumb-ensemble, the same exemplars", "chance", "seed 0"):
        assert name in text
    assert not list(folder.glob(".*.part"))

    for place, expected in (("here.svg", ["here.svg"]), (".", ["diagnosis.svg", "diagnosis.png"])):
        assert merlin("diagnose", folder, "--plot", place)[0] == 0
        assert all(Path(name).is_file() for name in expected)
    for words, sentence in (
        (["--plot", "here.bmp"], "ends in neither .svg nor .png"),
        (["--plot", "nowhere/here.svg"], "nowhere is not a folder; make it first, or choose another place"),
        (["--plot", "here.svg", "--json"], "without a plot"),
    ):
        code, _, err = merlin("diagnose", folder, *words)
        assert code != 0
        assert sentence in err


def test_a_control_that_chose_its_exemplars_otherwise_is_none(merlin, small):
    method = small.index("means")
    rival, control = ([*small[:method], name, *small[method + 1 :]] for name in ("er", "gdumb-ensemble"))
    folder = json.loads(merlin(*rival, "--exemplar-choice", "balanced", "--json")[1])["folder"]
    control += ["--models", "1", "--fine-tune-epochs", "1", "--exemplar-choice"]
    for choice, is_control in (("herding", False), ("balanced", True)):
        assert merlin(*control, choice)[0] == 0
        assert (json.loads(merlin("diagnose", folder, "--json")[1])["control"] is not None) is is_control


def test_a_method_without_sampled_models_has_nothing_to_draw(merlin, small):
    folder = Path(json.loads(merlin(*small, "--json")[1])["folder"])
    assert verdict_of(merlin, folder) is None
    assert merlin("diagnose", folder)[0] == 0
    assert not list(folder.glob("diagnosis.*"))
    code, _, err = merlin("diagnose", folder, "--plot", "here.svg")
    assert code == 2
    assert "means has no sampled models to draw; leave --plot out." in err
