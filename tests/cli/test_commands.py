import json
from pathlib import Path

import pytest


@pytest.fixture
def ran(merlin, small):
    """A finished run: its folder as the command names it, and what it printed."""
    code, out, err = merlin(*small)
    assert code == 0, err
    return next(Path("runs").iterdir()), out, err


def test_run_prints_the_result_and_what_to_type_next(ran):
    folder, out, err = ran
    assert "class-incremental" in out
    assert "task-masked" in out
    assert "embedded slice" in out
    assert "task 2/2 done" in err
    assert f"Written to {folder}" in err
    assert f"Next: merlin show {folder}" in err


def test_tables_fit_into_a_hundred_columns(ran, merlin):
    folder, out, _ = ran
    printed = [out, merlin("list")[1], merlin("show", folder)[1], merlin("diagnose", folder)[1]]
    assert max(len(line) for text in printed for line in text.splitlines()) <= 100


def test_run_again_shows_the_finished_run(ran, merlin, small):
    code, out, err = merlin(*small)
    assert code == 0
    assert out == ran[1]
    assert "finished" in err
    assert "done in" not in err
    assert "done in" in merlin(*small, "--restart")[2]


def test_json_goes_to_standard_output_alone(ran, merlin, small):
    folder = ran[0]
    result = json.loads(merlin(*small, "--json")[1])
    assert result["folder"] == str(folder)
    assert json.loads(merlin("resume", folder, "--json")[1]) == result
    assert json.loads(merlin("show", folder, "--json")[1])["runs"] == [result]
    listed = json.loads(merlin("list", "--json")[1])
    assert [(entry["run"], entry["state"], entry["tasks_done"]) for entry in listed] == [(folder.name, "finished", 2)]
    assert json.loads(merlin("diagnose", folder, "--json")[1])["probes"][0]["task"] == 0


def test_options_reach_the_settings(merlin, small):
    code, out, _ = merlin(
        *small,
        "--noise",
        "0.3",
        "--shape",
        "5",
        "6",
        "7",
        "--seed",
        "4",
        "--batch-size=7",
        "--inference",
        "aware",
        "--json",
    )
    assert code == 0
    result = json.loads(out)
    assert result["settings"]["method"] == {
        "name": "means", "exemplars": 7, "updates_per_batch": 1, "noise": 0.3, "sleep": 0.0, "ballast": 0, "shape": [5, 6, 7],
    }  # fmt: skip
    assert (result["seed"], result["batch_size"], result["settings"]["inference"]) == (4, 7, "aware")


def test_show_puts_seeds_together(merlin, small):
    for seed in (0, 1, 2):
        merlin(*small, "--seed", seed)
    merlin(*small, "--noise", "0.9")
    code, out, _ = merlin("show", "runs", "--json")
    assert code == 0
    rows = json.loads(out)["summary"]
    assert sorted(
        (row["view"], row["inference"], row["seeds"], row["changed"].get("noise"))
        for row in rows
        if not row["changed"].get("noise")
    ) == [
        ("class-incremental", "aggregate", [0, 1, 2], None),
        ("task-masked", "aggregate", [0, 1, 2], None),
        ("task-masked", "aware", [0, 1, 2], None),
    ]
    assert len(rows) == 6
    text = merlin("show")[1]
    assert "± " in text
    assert "noise 0.9" in text  # what tells the two apart


def test_list_tells_how_far_a_run_has_come(ran, merlin):
    folder = ran[0]
    (folder / "result.json").unlink()
    max((folder / "checkpoint").iterdir()).unlink()
    assert "interrupted, 1 of 2 tasks" in merlin("list")[1]
    assert "not finished" in merlin("show", folder)[2]
    assert merlin("diagnose", folder)[0] == 1
    assert merlin("resume", folder)[0] == 0
    assert "finished" in merlin("list")[1]


def test_list_survives_a_folder_it_cannot_read(ran, merlin):
    (ran[0] / "config.json").write_text("{")
    code, out, err = merlin("list")
    assert code == 0
    assert "unreadable" in out
    assert "Next" not in err  # there is none to look at


def test_diagnose_shows_forgetting_and_probes(ran, merlin):
    code, out, err = merlin("diagnose", ran[0])
    assert code == 0
    assert "forgotten" in out
    assert "spread" in out
    assert "stored by means: 31.4 kB" in out
    assert "merlin run split-mnist --method gdumb-ensemble --seed 0" in err
    assert all(option in err for option in ("--tasks 2", "--images-per-task 20", "--exemplars 7", "--out runs"))


def test_diagnose_of_a_method_without_probes_says_so(merlin, small):
    folder = json.loads(merlin(*[word.replace("means", "quiet") for word in small], "--json")[1])["folder"]
    code, out, _ = merlin("diagnose", folder)
    assert code == 0
    assert "quiet has no probes" in out
    assert "forgotten" in out


def test_diagnose_compares_with_the_control_of_the_same_stream_seed_and_budget(ran, merlin, small):
    def control(*options):
        words = [word.replace("means", "gdumb-ensemble") for word in small]
        code, _, err = merlin(*words, "--models", "2", "--fine-tune-epochs", "1", *options)
        assert code == 0, err

    control("--seed", "1", "--exemplars", "7")
    control("--exemplars", "8")
    assert json.loads(merlin("diagnose", ran[0], "--json")[1])["control"] is None
    control("--exemplars", "7")
    diagnosis = json.loads(merlin("diagnose", ran[0], "--json")[1])
    assert "gdumb-ensemble-s0" in diagnosis["control"]
    row = diagnosis["scores"][0]["tasks"][0]
    assert row["above_control"] == pytest.approx(row["final"] - row["control"])
    assert "above it" in merlin("diagnose", ran[0])[1]


def test_version_and_overview(merlin):
    assert merlin("--version")[1].startswith("merlin-cl ")
    assert "merlin demo" in merlin()[1]
    assert merlin("--help")[:2] == (0, merlin()[1])


@pytest.mark.parametrize("command", ["run", "resume", "list", "show", "diagnose", "demo"])
def test_every_command_has_help(merlin, command):
    code, out, _ = merlin(command, "--help")
    assert code == 0
    assert f"usage: merlin {command}" in out
