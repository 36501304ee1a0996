"""Events sent on to TensorBoard and MLflow; the run folder stays the record, and a run never fails for a sink."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from merlin_cl.errors import UsageError
from merlin_cl.runs import sinks
from merlin_cl.runs.folder import RunFolder
from merlin_cl.runs.run import resume, run
from merlin_cl.runs.sinks import Relay, relays, scalars


class Heard:
    """A sink that remembers."""

    def __init__(self, fail_at=None):
        self.events, self.closed, self.fail_at = [], 0, fail_at

    def take(self, event):
        if event["event"] == self.fail_at:
            raise ConnectionError("the server is gone")
        self.events.append(event)

    def close(self):
        self.closed += 1


@pytest.fixture
def mlflow(monkeypatch):
    """A client that keeps what it is sent, in the place of MLflow's."""
    kept = SimpleNamespace(experiments=[], runs=[], metrics=[], params=[], ended=[])

    class Client:
        def get_experiment_by_name(self, name):
            return SimpleNamespace(experiment_id=name) if name in kept.experiments else None

        def create_experiment(self, name):
            kept.experiments.append(name)
            return name

        def create_run(self, experiment, run_name):
            kept.runs.append(run_name)
            return SimpleNamespace(info=SimpleNamespace(run_id=f"id-{len(kept.runs)}"))

        def update_run(self, run, status):
            assert status == "RUNNING"

        def log_batch(self, run, metrics=(), params=()):
            assert len(metrics) <= 1000
            kept.metrics += [(run, *metric) for metric in metrics]
            kept.params += params

        def set_terminated(self, run, status):
            kept.ended.append((run, status))

    module = ModuleType("mlflow")
    module.__spec__ = SimpleNamespace(name="mlflow")
    module.MlflowClient = Client
    module.entities = SimpleNamespace(Metric=lambda *parts: parts, Param=lambda *parts: parts)
    monkeypatch.setitem(sys.modules, "mlflow", module)
    return kept


def numbers(folder):
    return [scalar for event in folder.events() for scalar in scalars(event)]


def test_a_sink_hears_every_event_in_order(config, tmp_path, silent):
    heard = Heard()
    folder = run(config, tmp_path, silent, listeners=[Relay("mlflow", lambda _: heard, print)])
    assert heard.events == folder.events()
    assert heard.closed == 1


def test_after_a_resume_it_hears_what_came_before_too(config, tmp_path, silent, monkeypatch):
    calls = []
    monkeypatch.setattr("merlin_cl.runs.run._summary", lambda ledger: calls.append(1) or (1 / (len(calls) - 2) and ""))
    with pytest.raises(ZeroDivisionError):
        run(config, tmp_path, silent)
    (path,) = tmp_path.iterdir()
    folder, heard = RunFolder(path), Heard()
    folder.listeners = [Relay("mlflow", lambda _: heard, print)]
    resume(folder, silent)
    assert heard.events == folder.events()
    assert heard.events[0]["event"] == "started"


def test_a_sink_that_fails_costs_a_word_and_not_the_run(config, tmp_path, silent):
    said, heard = [], Heard(fail_at="accuracy")
    folder = run(config, tmp_path, silent, listeners=[Relay("mlflow", lambda _: heard, said.append)])
    assert folder.finished
    assert len(said) == 1
    assert "the server is gone" in said[0]


def test_a_sink_that_cannot_be_made_costs_a_word_and_not_the_run(config, tmp_path, silent):
    def refuse(folder):
        raise OSError("no room")

    said = []
    assert run(config, tmp_path, silent, listeners=[Relay("mlflow", refuse, said.append)]).finished
    assert len(said) == 1


def test_results_are_the_same_with_and_without(config, tmp_path, silent, mlflow):
    plain = run(config, tmp_path / "plain", silent).result()
    listened = run(config, tmp_path / "listened", silent, listeners=relays(["mlflow"], print)).result()
    assert plain["scores"] == listened["scores"]


def test_a_package_that_is_missing_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setattr(sinks.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"merlin-cl\[tensorboard\]"):
        relays(["tensorboard"], print)


def test_numbers_of_losses_and_probes_have_their_steps():
    losses = {"event": "losses", "task": 1, "curves": {"negative_elbo": [3.0, 2.0]}}
    assert [(one.name, one.value, one.step) for one in scalars(losses)] == [
        ("loss/negative_elbo/task 2", 3.0, 1),
        ("loss/negative_elbo/task 2", 2.0, 2),
    ]
    probe = {"event": "probe", "task": 0, "after_task": 2, "values": {"spread": 1.5}}
    assert [(one.name, one.value, one.step) for one in scalars(probe)] == [("probe/spread/task 1", 1.5, 3)]
    assert list(scalars({"event": "task", "task": 0})) == []


def test_mlflow_has_every_number_once_and_the_settings(config, tmp_path, silent, mlflow):
    folder = run(config, tmp_path, silent, listeners=relays(["mlflow"], pytest.fail))
    assert [(name, value, step) for _, name, value, _, step in mlflow.metrics] == [
        (one.name, one.value, one.step) for one in numbers(folder)
    ]
    assert mlflow.runs == [folder.path.name]
    assert mlflow.ended == [("id-1", "FINISHED")]
    assert ("method.noise", "0.1") in mlflow.params
    assert ("seed", "0") in mlflow.params


def test_mlflow_goes_on_with_its_run_and_begins_another_on_restart(config, tmp_path, silent, mlflow):
    folder = run(config, tmp_path, silent, listeners=relays(["mlflow"], pytest.fail))
    before = list(mlflow.metrics)
    for relay in relays(["mlflow"], pytest.fail):  # as after a kill between the last event and the end
        relay(folder, folder.events()[-1])
    assert mlflow.metrics == before
    run(config, tmp_path, silent, restart=True, listeners=relays(["mlflow"], pytest.fail))
    assert len(mlflow.runs) == 2
    assert len(mlflow.metrics) == 2 * len(before)


def test_tensorboard_has_every_number_once_even_after_a_second_time(config, tmp_path, silent):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason="no tensorboard")
    for _ in range(2):
        folder = run(config, tmp_path, silent, restart=True, listeners=relays(["tensorboard"], pytest.fail))
    written = accumulator.EventAccumulator(str(folder.path / "tensorboard")).Reload()
    wanted = {}
    for one in numbers(folder):
        wanted.setdefault(one.name, []).append((one.step, pytest.approx(one.value, rel=1e-6)))
    assert set(written.Tags()["scalars"]) == set(wanted)
    for name, points in wanted.items():
        assert [(point.step, point.value) for point in written.Scalars(name)] == points
    assert written.Tags()["tensors"] == ["settings/text_summary"]
