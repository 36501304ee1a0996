"""Events as an MLflow run, on the server or in the folder that MLFLOW_TRACKING_URI names."""

from collections.abc import Iterator
from typing import Any

from merlin_cl.runs.folder import RunFolder, read_json, write_json
from merlin_cl.runs.sinks import Event, scalars, seconds

EXPERIMENT = "merlin-cl"
FILE = "mlflow.json"
"""In the run folder: which MLflow run is its, and how many events that has."""
AT_ONCE = 500
"""Numbers in one request; MLflow takes a thousand."""
STATUS = {"finished": "FINISHED", "failed": "FAILED", "stopped": "KILLED"}


class MLflowSink:
    """Parameters once, metrics as they come. After a resume the same MLflow run goes on."""

    def __init__(self, folder: RunFolder) -> None:
        import mlflow  # here, as the package is optional

        self._entities = mlflow.entities
        self._note = folder.path / FILE
        self._client: Any = mlflow.MlflowClient()
        self._taken = 0
        known = read_json(self._note) if self._note.is_file() else None
        if known is not None and known["events"] <= len(folder.events()):
            self._run: str = known["run"]
            self._sent: int = known["events"]
            self._client.update_run(self._run, status="RUNNING")
        else:  # the first time, or begun anew
            self._run, self._sent = self._begun(folder), 0

    def take(self, event: Event) -> None:
        """Send the event's numbers, unless they were sent before the run was resumed."""
        self._taken += 1
        if self._taken <= self._sent:
            return
        time = round(1000 * seconds(event))
        metrics = [self._entities.Metric(scalar.name, scalar.value, time, scalar.step) for scalar in scalars(event)]
        for start in range(0, len(metrics), AT_ONCE):
            self._client.log_batch(self._run, metrics=metrics[start : start + AT_ONCE])
        if event["event"] in STATUS:
            self._client.set_terminated(self._run, STATUS[event["event"]])
        self._sent = self._taken
        write_json(self._note, {"run": self._run, "events": self._sent})

    def close(self) -> None:
        """All has been sent."""

    def _begun(self, folder: RunFolder) -> str:
        known = self._client.get_experiment_by_name(EXPERIMENT)
        experiment = known.experiment_id if known is not None else self._client.create_experiment(EXPERIMENT)
        run: str = self._client.create_run(experiment, run_name=folder.path.name).info.run_id
        self._client.log_batch(
            run, params=[self._entities.Param(name, value) for name, value in _flat(folder.config_record())]
        )
        return run


def _flat(record: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Settings as names with dots and their values as text."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)
