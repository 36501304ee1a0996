"""What differs between two environments is said in words; a folder outside a repository has no commit."""

import copy

from merlin_cl.runs.environment import differences, environment, git_revision

HERE = {
    "versions": {"python": "3.11.7", "torch": "2.13.0"},
    "machine": {"cores": 2},
    "git_revision": "abc",
    "threads": 1,
}


def test_every_difference_that_may_change_results_is_named():
    other = copy.deepcopy(HERE) | {"git_revision": "abc-changed", "machine": {"cores": 4}, "threads": 8}
    other["versions"] = {"python": "3.12.1", "numpy": "2.4.6", "torch": "2.13.0"}
    assert differences(HERE, other) == [
        "python 3.11.7 became 3.12.1",
        "numpy None became 2.4.6",
        "the code is at another commit",
        "the machine is another",
    ]
    assert differences(HERE, HERE | {"threads": 8}) == []


def test_an_environment_does_not_differ_from_itself():
    assert differences(environment(1), environment(2)) == []


def test_outside_a_repository_there_is_no_commit(tmp_path):
    assert git_revision(tmp_path) is None
