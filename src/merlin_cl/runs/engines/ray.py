"""Runs on a Ray cluster: one that exists, or one started on this machine.

Workers write run folders where the grid reads them: to a folder that all machines share, or to a store (see `store.py`).
"""

from __future__ import annotations

import logging
import socket
import time
from pathlib import Path
from typing import Any

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.runs.engines.engine import JobOutcome
from merlin_cl.runs.engines.store import Store
from merlin_cl.runs.jobs import Job, tasks_done

CONNECT_SECONDS = 5.0
RESOURCES_SECONDS = 2.0
"""How long what is known of the cluster's size may be used."""


class RayEngine:
    """Tasks of a Ray cluster, one for each run. Ray restarts none of them: the grid does, and they go on from checkpoints."""

    name = "ray"

    def __init__(self, root: Path, threads: int, address: str = "", store: str = "") -> None:
        """Without an address a cluster is started here; without a store, workers write to `root`, which they must share."""
        self.ray = _connected(address)
        self.root = root.resolve()
        self.threads = threads
        self.store = store
        self._kept = Store(store) if store else None
        self._running: dict[Any, Job] = {}
        self._seen = (0.0, 1)

    @property
    def slots(self) -> int:
        """As many runs as the cluster has cores for; machines may come and go."""
        looked, count = self._seen
        if time.monotonic() - looked > RESOURCES_SECONDS:
            count = max(1, int(self.ray.cluster_resources().get("CPU", 1)) // self.threads)
            self._seen = (time.monotonic(), count)
        return count

    def start(self, job: Job) -> None:
        """A task of its own for the run, in a fresh process."""
        from merlin_cl.runs.engines.work import compute_remotely

        # One run a process: what a run left behind in memory must not count towards the next one's cost.
        options = {"num_cpus": self.threads, "max_retries": 0, "max_calls": 1}
        if job.config.device.startswith("cuda"):
            options["num_gpus"] = 1
        task = self.ray.remote(**options)(compute_remotely)
        self._running[task.remote(job.config.record(), str(self.root), self.store)] = job

    def ended(self, seconds: float) -> list[JobOutcome]:
        """The runs whose tasks have ended, or whose worker is lost."""
        references = list(self._running)
        ready, _ = self.ray.wait(references, num_returns=1, timeout=seconds)
        if ready:
            ready, _ = self.ray.wait(references, num_returns=len(references), timeout=0)
        outcomes = []
        for reference in ready:
            job = self._running.pop(reference)
            reason = self._said(reference)
            if reason is None and not self.finished(job):
                reason = f"Its result is not in {self.root}; share that folder among all machines, or use --store."
            outcomes.append(JobOutcome(job, reason))
        return outcomes

    def finished(self, job: Job) -> bool:
        """Whether the result is in the grid's folder, once it has been fetched from the store."""
        folder = job.folder(self.root)
        if self._kept is not None and (folder is None or not folder.finished):
            self._kept.fetch_finished(job, self.root)
            folder = job.folder(self.root)
        return folder is not None and folder.finished

    def tasks_done(self, job: Job) -> int:
        """As its folder says, or the store."""
        return tasks_done(job.folder(self.root)) if self._kept is None else self._kept.tasks_done(job)

    def close(self) -> None:
        """Stop all tasks and leave the cluster; one that was started here ends."""
        for reference in self._running:
            self.ray.cancel(reference, force=True)
        self._running.clear()
        self.ray.shutdown()

    def _said(self, reference: Any) -> str | None:
        """Why a task failed; None if it did not."""
        try:
            said: str | None = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            return f"Its worker was lost ({type(error).__name__})."
        return said


def _connected(address: str) -> Any:
    """The package `ray`, connected to a cluster."""
    try:
        import ray
    except ImportError:
        raise UsageError("--engine ray needs the package ray; `pip install 'merlin-cl[ray]'` installs it.") from None
    # Without an address none is looked for, though Ray would look into the environment.
    options: dict[str, Any] = {} if address else {"include_dashboard": False}
    try:
        _require_listener(address)
        ray.init(address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **options)
    except (OSError, RuntimeError, ValueError) as error:
        sentence = " ".join(str(error).split()).rstrip(".")
        raise MerlinError(f"There is no Ray cluster at {address or 'this machine'}: {sentence}.") from None
    return ray


def _require_listener(address: str) -> None:
    """Fail at once where nobody listens at HOST:PORT; Ray would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
