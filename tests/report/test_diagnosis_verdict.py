"""The verdict says what the figures say."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merlin_cl.report.diagnosis_verdict import EMPTY, FADED, FORGOTTEN, Knowledge, judge, knowledge


def known(task=0, base=98.0, learned=97.5, final=97.0, chance=50.0):
    return Knowledge(task, base, learned, final, chance, None, None, None, None, None)


def test_held():
    verdict = judge([known(0), known(1, final=95.4)])
    assert (verdict.word, verdict.tasks) == ("held", ["held", "held"])
    assert verdict.sentences == ["held: sampled models end within 2.6 points of every task's base ensemble"]


def test_a_decoder_at_chance_is_condemned_even_if_one_task_is_lucky():
    verdict = judge([known(0, learned=21.0, final=46.0), known(1, learned=48.0, final=51.0), known(2, learned=65.0)])
    assert verdict.word == "empty"
    assert verdict.tasks == ["empty"] * 3
    assert verdict.sentences == ["sampled models are at chance: the decoder holds nothing"]


def test_a_task_that_was_lost_is_named_with_what_it_lost():
    verdict = judge([known(0, final=57.5), known(1), known(2)])
    assert (verdict.word, verdict.tasks) == ("forgotten", ["forgotten", "held", "held"])
    assert verdict.sentences == ["task 1 lost 40 points between learning and the end: forgotten"]


def test_one_task_that_was_never_taken_up_is_told_from_one_that_was_forgotten():
    verdict = judge([known(0), known(1, learned=52.0, final=50.0), known(2), known(3, learned=90.0, final=89.0)])
    assert (verdict.word, verdict.tasks) == ("empty", ["held", "empty", "held", "faded"])
    assert "task 2: sampled models are at chance right after learning" in verdict.sentences[0]
    assert verdict.sentences[1] == "task 4 is held in part: sampled models end 9.0 points below its base ensemble"


def test_where_base_models_know_nothing_there_is_nothing_to_hold():
    verdict = judge([known(0), known(1, base=52.0, learned=51.0, final=50.0)])
    assert (verdict.word, verdict.tasks) == ("unlearned", ["held", "unlearned"])
    assert "task 2: its base models are at chance themselves" in verdict.sentences[0]


def test_without_a_known_chance_what_is_lost_is_still_told():
    verdict = judge([known(0, chance=None, final=50.0), known(1, chance=None, learned=50.0, final=50.0)])
    assert verdict.tasks == ["forgotten", "faded"]


accuracy = st.floats(0, 100)


@given(base=accuracy, learned=accuracy, final=accuracy, classes=st.integers(2, 10), others=st.integers(0, 3))
def test_every_verdict_agrees_with_its_thresholds(base, learned, final, classes, others):
    task = known(0, base, learned, final, 100 / classes)
    verdict = judge([task, *(known(1 + other) for other in range(others))])
    assert verdict.sentences
    if verdict.word == "held":
        assert base - final <= FADED
        assert learned - final < FORGOTTEN
    if verdict.tasks[0] == "forgotten":
        assert learned - final >= FORGOTTEN
        assert f"task 1 lost {learned - final:.0f} points" in verdict.sentences[0]
    if others == 0 and verdict.word == "empty":
        assert learned - task.chance < EMPTY * (base - task.chance)


def result_of(learned, final):
    return {"diagnosis": {"learned": learned, "final": final}}


def test_knowledge_is_read_off_the_probes():
    learned = {"base_ensemble": 99.0, "sampled_ensemble": 98.0, "relative_error": 0.3, "base_diversity": 3.0}
    (task,) = knowledge(result_of([learned], [{"sampled_ensemble": 97.0, "sampled_diversity": 1.0}]), None, [4])
    assert task == Knowledge(0, 99.0, 98.0, 97.0, 25.0, None, 0.3, 3.0, None, 1.0)
    assert (
        replace(task, chance=None)
        == knowledge(result_of([learned], [{"sampled_ensemble": 97.0, "sampled_diversity": 1.0}]), None, None)[0]
    )


@pytest.mark.parametrize("probe", [None, {"spread": 1.0}])
def test_a_method_that_samples_no_models_gets_no_verdict(probe):
    assert judge(knowledge(result_of([probe], [probe]), None, [2])) is None


def test_the_control_is_taken_among_the_tasks_own_classes():
    learned = {"base_ensemble": 99.0, "sampled_ensemble": 98.0}
    control = {
        "scores": [
            {"view": "class-incremental", "matrix": [[70.0]]},
            {"view": "task-masked", "matrix": [[94.0]]},
        ]
    }
    (task,) = knowledge(result_of([learned], [learned]), control, [2])
    assert task.control == 94.0
