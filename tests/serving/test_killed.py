"""A real process, killed by SIGKILL while clients teach it, and started again: what it acknowledged is learned, once."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import closing

import numpy as np
import pytest

from estimator.small import clouds
from merlin_cl import ContinualClassifier
from merlin_cl.serving.journal import Journal
from patience import PATIENCE, wait_for

from .asking import made

KILLS = 2


class Process:
    """`merlin serve` with a port of its own."""

    def __init__(self, model, *options):
        command = [sys.executable, "-m", "merlin_cl.cli", "serve", str(model), "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            pytest.fail(self.process.stderr.read())
        self.port = int(line.rstrip("/\n").rpartition(":")[2])
        self.token = (model.with_name(model.name + ".serve") / "token").read_text().strip()

    def ask(self, method, path, **body):
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, json.dumps(body), headers)
            with closing(connection.getresponse()) as answer:  # closed, too, if the service is killed while it answers
                return answer.status, json.loads(answer.read())

    def end(self, number):
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


@pytest.fixture
def started():
    """Starts processes, of which none stays."""
    begun = []

    def start(*arguments):
        begun.append(Process(*arguments))
        return begun[-1]

    yield start
    for each in begun:
        each.process.kill()
        each.process.communicate()


def test_nothing_is_lost_and_nothing_done_twice(tmp_path, started):
    model = made(tmp_path / "model")
    acknowledged, unsure, number, lock = {}, set(), [0], threading.Lock()
    for life in range(KILLS + 1):
        service = started(model)
        stopped = threading.Event()

        def teach(service=service, stopped=stopped):
            while not stopped.is_set():
                with lock:
                    again = min(unsure) if unsure else None
                    unsure.discard(again)
                    mine = again if again is not None else (number.__setitem__(0, number[0] + 1), number[0])[1]
                x, y = clouds(0, 1, mine % 3 + 2, count=3, seed=mine)
                try:
                    status, body = service.ask("POST", "/learn", id=str(mine), inputs=x.tolist(), labels=y.tolist())
                except (OSError, http.client.HTTPException):
                    with lock:
                        unsure.add(mine)  # sent, perhaps kept: sent again under the same id
                    return
                assert status == 202, body
                acknowledged[mine] = body["version"]

        teachers = [threading.Thread(target=teach) for _ in range(3)]
        for each in teachers:
            each.start()
        enough = len(acknowledged) + 12
        wait_for(lambda enough=enough: len(acknowledged) >= enough)
        if life < KILLS:
            assert service.end(signal.SIGKILL)[0] == -signal.SIGKILL
        stopped.set()
        for each in teachers:
            each.join(PATIENCE)
    for mine in sorted(unsure):
        x, y = clouds(0, 1, mine % 3 + 2, count=3, seed=mine)
        acknowledged[mine] = service.ask("POST", "/learn", id=str(mine), inputs=x.tolist(), labels=y.tolist())[1][
            "version"
        ]
    wait_for(lambda: service.ask("GET", "/health")[1]["version"] == max(acknowledged.values()))
    code, said = service.end(signal.SIGTERM)
    assert code == 0, said
    assert "The newest version is" in said
    folder = tmp_path / "model.serve"
    assert os.stat(folder / "token").st_mode & 0o777 == 0o600
    journal = Journal(folder / "journal.sqlite")
    assert sorted(acknowledged.values()) == list(range(1, len(acknowledged) + 1)), "an entry is missing, or there twice"
    assert journal.last() == len(acknowledged)
    newest = max(journal.versions())
    journal.close()
    assert newest == len(acknowledged)
    learned = ContinualClassifier.load(folder / "versions" / f"{newest}.safetensors")
    seen = sum(learned.learner_.memory._seen.values())
    assert seen == 60 + 3 * len(acknowledged)  # every example counted, once
    x, _ = clouds(0, 1)
    assert np.isfinite(learned.predict_proba(x)).all()
