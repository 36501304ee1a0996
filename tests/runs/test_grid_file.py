"""A grid file stands for exactly the runs its lists multiply to, and whatever is wrong in it is named with its place."""

from collections import Counter
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.errors import UsageError
from merlin_cl.runs.grid_file import parse_grid, read_grid

SMALL = {"streams": ["split-mnist"], "methods": ["single"]}

some = st.integers(1, 4)


@settings(max_examples=25, deadline=None)
@given(st.data(), st.lists(st.sampled_from(["single", "er", "gem"]), min_size=1, max_size=3, unique=True))
def test_runs_are_the_product_of_all_lists(data, methods):
    tasks = data.draw(st.lists(some, min_size=1, max_size=3, unique=True))
    rates = data.draw(st.lists(st.floats(0.001, 1), min_size=1, max_size=3, unique=True))
    seeds = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True))
    table = {
        "streams": [{"name": "split-mnist", "tasks": tasks}, "permuted-mnist"],
        "methods": [{"name": name, "learning_rate": rates} for name in methods],
        "seeds": seeds,
    }
    configs = parse_grid(table, None).configs
    assert len(configs) == (len(tasks) + 1) * prod(map(len, (methods, rates, seeds)))
    assert len({config.digest for config in configs}) == len(configs)
    assert [config.seed for config in configs] == sorted((config.seed for config in configs), key=seeds.index)


def test_presets_shared_settings_and_run_options_reach_every_run(tmp_path):
    (tmp_path / "grid.toml").write_text("""
        streams = ["permuted-mnist"]
        methods = [{name = "merlin", preset = ["default", "paper"], models = 4, hidden_units = [50, 50]}, "gem"]
        seeds = [3]
        retries = 0
        [settings]
        exemplars = 30
        [run]
        inference = "all"
        batch_size = 5
    """)
    grid = read_grid(tmp_path / "grid.toml")
    default, paper, _ = grid.configs
    assert grid.retries == 0
    assert [config.preset for config in grid.configs] == ["default"] * 3
    assert [config.method.method for config in grid.configs] == ["merlin", "merlin-paper", "gem"]
    assert {config.method.models for config in (default, paper)} == {4}
    assert default.method.updates_per_batch == 10  # what the preset has for streams that share their classes
    assert {config.method.exemplars for config in grid.configs} == {30}
    assert {config.batch_size for config in grid.configs} == {5}
    assert default.method.hidden_units == (50, 50)  # a setting that is a list is one value


def test_the_example_of_the_page_stands_for_its_runs(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text("utf-8")
    (tmp_path / "grid.toml").write_text(page.split("```toml\n", 1)[1].split("```", 1)[0])
    configs = read_grid(tmp_path / "grid.toml").configs
    runs = {
        "single": 1,
        "gem": 2,
        "merlin": 4,
        "merlin-paper": 4,
    }  # of a stream and a seed: `single` keeps no exemplars
    assert Counter(config.method.method for config in configs) == {name: 3 * 5 * count for name, count in runs.items()}
    assert {config.method.exemplars for config in configs if config.method.method == "gem"} == {100, 200}


def test_a_methods_own_setting_comes_before_the_shared_one():
    table = {
        "streams": ["split-mnist"],
        "methods": ["er", {"name": "gem", "exemplars": 7}],
        "settings": {"exemplars": 5},
    }
    assert [config.method.exemplars for config in parse_grid(table, None).configs] == [5, 7]


def test_a_list_of_lists_stands_for_several_values_of_a_setting_that_is_a_list():
    table = SMALL | {"methods": [{"name": "single", "hidden_units": [[10], [20, 20]]}]}
    assert [config.method.hidden_units for config in parse_grid(table, None).configs] == [(10,), (20, 20)]


def test_the_same_run_asked_for_twice_is_one():
    assert (
        len(parse_grid(SMALL | {"methods": ["single", {"name": "single", "updates_per_batch": 10}]}, None).configs) == 1
    )


WRONG = {
    "stream": ({"streams": ["split-mnits"]}, r"streams, entry 1 \(split-mnits\).*did you mean 'split-mnist'"),
    "method": ({"methods": ["single", "merlni"]}, r"methods, entry 2 \(merlni\).*did you mean 'merlin'"),
    "setting of a method": (
        {"methods": [{"name": "merlin", "modles": 3}]},
        r"entry 1 \(merlin\): Unknown setting of merlin 'modles'; did you mean 'models'",
    ),
    "setting of a stream": ({"streams": [{"name": "split-mnist", "taks": 2}]}, "setting of split-mnist 'taks'"),
    "shared setting": ({"settings": {"models": 3}}, r"settings: Unknown setting of the methods listed 'models'"),
    "value": ({"methods": [{"name": "single", "updates_per_batch": [1, 0]}]}, r"\(single\): updates_per_batch is 0"),
    "type": ({"methods": [{"name": "single", "updates_per_batch": "two"}]}, "is 'two'; it must be a whole number"),
    "truth": ({"methods": [{"name": "single", "updates_per_batch": True}]}, "is True; it must be a whole number"),
    "choice": ({"methods": [{"name": "gem", "optimiser": "adm"}]}, "Unknown optimiser 'adm'; did you mean 'adam'"),
    "list": ({"methods": [{"name": "single", "hidden_units": 3}]}, "hidden_units is 3; it must be a list"),
    "no values": ({"methods": [{"name": "single", "learning_rate": []}]}, "learning_rate is an empty list"),
    "preset": ({"methods": [{"name": "merlin", "preset": "papr"}]}, "preset of merlin 'papr'"),
    "seeds": ({"seeds": [0, -1]}, "seeds is"),
    "no seeds": ({"seeds": 0}, "seeds is 0"),
    "key": ({"method": ["single"]}, "Unknown key 'method'; did you mean 'methods'"),
    "no methods": ({"methods": []}, "methods is missing"),
    "entry": ({"methods": [3]}, "methods, entry 1"),
    "run option": ({"run": {"batchsize": 3}}, "run: Unknown option of a run 'batchsize'"),
    "run value": ({"run": {"threads": 0}}, "run: threads is 0"),
    "retries": ({"retries": -1}, "retries is -1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_its_place(name):
    change, words = WRONG[name]
    with pytest.raises(UsageError, match=words) as caught:
        parse_grid(SMALL | change, None)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_grid(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("streams = [")
    with pytest.raises(UsageError, match="is not TOML"):
        read_grid(tmp_path / "bad.toml")
