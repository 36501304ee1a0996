"""Run folders made up for tests in milliseconds, in the very form in which runs write them."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

from merlin_cl.learners.registry import method_settings
from merlin_cl.runs.calibration import Calibration
from merlin_cl.runs.config import RunConfig
from merlin_cl.runs.evaluate import Evaluation, Question
from merlin_cl.runs.folder import write_json
from merlin_cl.runs.ledger import Ledger
from merlin_cl.statefile import encode
from merlin_cl.streams.registry import stream_settings

BEGUN = datetime(2026, 1, 2, tzinfo=UTC)
SECONDS_A_TASK = 10
ENVIRONMENT = {
    "versions": {"python": "3.11.7", "merlin-cl": "0.1.0", "torch": "2.13.0", "numpy": "2.4.6", "safetensors": "0.8.0"},
    "machine": {"system": "Linux", "processor": "made up", "cores": 2, "cpu_capability": "AVX2"},
    "git_revision": "0123456789abcdef",
    "threads": 1,
}
LEVEL = {"merlin": 96.0, "gdumb-ensemble": 92.0, "single": 60.0}
"""Accuracy that a method has about."""


def make_run(
    root,
    method="merlin",
    seed=0,
    *,
    stream="split-mnist",
    done=None,
    stream_values=None,
    level=None,
    held=4,
    stated=True,
    **values,
):
    """A run folder; `done` tasks of an unfinished run, None for a finished one; `held` exemplars of a class; whether it is
    `stated` what the method stores.

    Further values are settings of the method.
    """
    config = made_config(method, seed, stream, stream_values or {}, values)
    folder = Path(root) / config.name
    (folder / "checkpoint").mkdir(parents=True)
    (folder / "lock").touch()
    write_json(folder / "config.json", config.record())
    write_json(folder / "env.json", ENVIRONMENT)
    work = _Work(config, level)
    tasks = config.tasks if done is None else done
    for task in range(tasks):
        work.learn(task)
    if done is None:
        for task in range(tasks):
            work.log("probe", task=task, after_task=tasks - 1, values=work.probe())
        work.log("finished")
        result = work.ledger.result(config, work.learner(), [work.probe() for _ in range(tasks)])
        if not stated:
            result["cost"]["stored_bytes"] = {}
        write_json(folder / "result.json", result)
    elif tasks < config.tasks:
        work.log("task", task=tasks)
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in work.events))
    if tasks:
        state = {"learner": work.state(tasks, held), "ledger": work.ledger.state()}
        labels = {"run": config.digest, "tasks_done": str(tasks)}
        (folder / "checkpoint" / f"task-{tasks:03d}.safetensors").write_bytes(encode(state, labels))
    return folder


def made_config(method="merlin", seed=0, stream="split-mnist", stream_values=None, values=None):
    settings = stream_settings(stream)(**{"tasks": 3, **(stream_values or {})})
    chosen = replace(method_settings(method).preset("default", settings.info()), **(values or {}))
    config = RunConfig(settings, chosen, seed)
    return replace(config, source="made up", fingerprint="0" * 16, tasks=settings.info().tasks)


def make_result_file(folder, path):
    """What `tools/collect_results.py` keeps of a run."""
    record = {"result": json.loads((folder / "result.json").read_text()), "environment": ENVIRONMENT}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    return path


class _Work:
    """A run that only pretends to learn."""

    def __init__(self, config, level):
        self.config = config
        self.info = config.stream.info()
        self.random = np.random.default_rng(config.seed)
        self.level = LEVEL.get(config.method.method, 85.0) if level is None else level
        self.modes = ("marginal", "aggregate", "aware") if config.method.method == "merlin" else (None,)
        views = self.info.views
        self.asked = [
            Question(view, mode)
            for mode in self.modes
            for view in views
            if not (mode == "aware" and view == "class-incremental")
        ]
        self.ledger = Ledger(self.asked, cpu_seconds={"evaluate": 2.0})
        self.events = []
        self.now = BEGUN
        self.log("started", tasks_done=0, tasks=config.tasks, environment_changes=[])

    def log(self, event, **values):
        self.events.append({"time": self.now.isoformat(timespec="milliseconds"), "event": event, **values})

    def learn(self, task):
        self.log("task", task=task)
        self.now += timedelta(seconds=SECONDS_A_TASK)
        if self.modes != (None,):
            curve = (5 * 0.9 ** np.arange(30) + self.random.random(30)).tolist()
            self.log("losses", task=task, curves={"negative_elbo": curve})
        probe = self.probe()
        if probe:
            self.log("probe", task=task, after_task=task, values=probe)
        rows = {}
        for question in self.asked:
            spread = self.random.uniform(-1.0, 1.0, task + 1) - np.arange(task, -1, -1)
            row = np.clip(self.level + spread, 0, 100).tolist()
            rows[question] = Evaluation(row, self.calibration(task))
            asked = {"after_task": task, "view": question.view, "inference": question.inference}
            self.log("accuracy", **asked, row=row)
            if rows[question].calibration is not None:
                self.log("calibration", **asked, **rows[question].calibration.record())
        self.ledger.add(rows, probe)
        self.log("checkpoint", file=f"task-{task + 1:03d}.safetensors")

    def calibration(self, task):
        if self.config.method.method == "icarl":
            return None
        tables = {}
        if task + 1 == self.config.tasks:
            bins = [[10, 50.0 + 3 * place, 48.0 + 3 * place] for place in range(15)]
            tables = {"reliability": bins, "risks": [float(share) for share in range(10)], "risk_area": 4.5}
        return Calibration(nll=0.1 * (task + 1) + self.config.seed, brier=0.05 * (task + 1), ece=1.5 + task, **tables)

    def probe(self):
        if self.modes == (None,):
            return None
        high = float(97 + self.random.random())
        return {
            "sampled_ensemble": high - 0.5,
            "sampled_single": high - 1,
            "base_ensemble": high,
            "relative_error": 0.2,
        }

    def learner(self):
        stored = {"exemplars": 157_200, "meta_model": 150_000} if self.modes != (None,) else {"exemplars": 157_200}
        return SimpleNamespace(
            phases=SimpleNamespace(cpu_seconds={"base": 7.5 + self.config.seed, "infer": 20.0}),
            parameters=lambda: {"classifier": 89_610},
            stored_bytes=lambda: stored,
        )

    def state(self, tasks, held):
        """The learner's part of a checkpoint: exemplars, and priors where there are any."""
        noise = torch.Generator().manual_seed(self.config.seed)
        classes = [(2 * task, 2 * task + 1) for task in range(tasks)]
        labels = [label for pair in classes for label in pair for _ in range(held)]
        memory = {
            "x": torch.randint(0, 256, (len(labels), 1, 28, 28), generator=noise, dtype=torch.uint8),
            "labels": labels,
            "tasks": [label // 2 for label in labels],
        }
        method = {"memory": memory}
        if self.modes != (None,):
            means = torch.randn(tasks, 4, generator=noise)
            priors = {str(task): {"mean": means[task], "log_variance": torch.full((4,), -2.0)} for task in range(tasks)}
            method["distribution"] = {"priors": priors}
        infos = [
            {"index": task, "classes": list(pair), "name": f"{pair[0]} and {pair[1]}", "descriptor": None}
            for task, pair in enumerate(classes)
        ]
        return {"tasks": infos, "learning": False, "cpu_seconds": {}, "method": method}
