"""The command on the page computes the very same run again."""

import io
import shlex

import pytest

from merlin_cl.cli.run import configured
from merlin_cl.report.page.build import content
from merlin_cl.report.page.sources import find, read
from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.progress import PlainDisplay
from merlin_cl.runs.run import run

from ..made import make_run

CASES = [
    {"method": "merlin"},
    {"method": "merlin", "models": 5, "noise": 0.0, "hidden_units": (20, 30)},
    {"method": "single", "seed": 4, "stream": "permuted-mnist", "stream_values": {"images_per_task": 50}},
    {"method": "er", "stream_values": {"tasks": 2, "evaluation": "held-out"}},
]


@pytest.mark.parametrize("case", CASES)
def test_the_command_gives_the_settings_of_the_run(tmp_path, case):
    folder = make_run(tmp_path, **case)
    (stream,) = content(read(find([tmp_path])).runs)["streams"]
    words = shlex.split(stream["experiments"][0]["command"])
    assert words[:2] == ["merlin", "run"]
    _, config = configured(words[2:])
    original = RunFolder(folder).config()
    assert (config.stream, config.method, config.seed) == (original.stream, original.method, original.seed)
    names = ("batch_size", "inference", "device", "threads", "preset")
    assert [getattr(config, name) for name in names] == [getattr(original, name) for name in names]


def test_several_seeds_are_one_command(runs):
    (stream,) = content(read(find([runs])).runs)["streams"]
    command = stream["experiments"][0]["command"]
    assert command.startswith("for seed in 0 1 2; do merlin run split-mnist --method merlin --seed $seed")
    assert command.endswith("; done")


def test_data_of_ones_own_are_named_by_their_path(tmp_path):
    table = tmp_path / "my data.csv"
    table.write_text("a,b,y,site\n" + "".join(f"{n},{-n},{'xy'[n % 2]},{n // 20}\n" for n in range(40)))
    _, config = configured([str(table), "--method", "single", "--label", "y", "--task-column", "site", "--seed", "3"])
    folder = run(config, tmp_path / "runs", PlainDisplay(io.StringIO()))
    (stream,) = content(read([folder.path]).runs)["streams"]
    words = shlex.split(stream["experiments"][0]["command"])
    assert words[2] == str(table.resolve())
    assert configured(words[2:])[1] == config
