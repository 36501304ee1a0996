"""What `merlin serve` bears: answers a second while it learns, and whether kills lose or repeat anything.

    python benchmarks/serving.py load                     # half a minute: eight clients ask while 20 rows a second are taught
    python benchmarks/serving.py kills --minutes 10       # mixed load with five kills (SIGKILL), then a count of everything
    python benchmarks/serving.py fuzz                     # minutes: whatever its OpenAPI document allows, and what it does not
    python benchmarks/serving.py load --method er --out results/serving/load-er.json

`fuzz` needs schemathesis (pip install schemathesis), which no other part of the package does. The clients are another process on
the same machine, so that they share its cores with the service.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

CLIENTS, ROWS_A_SECOND = 8, 20


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["load", "kills", "fuzz"])
    parser.add_argument("--method", default="merlin")
    parser.add_argument("--seconds", type=float, default=30.0, help="of load")
    parser.add_argument("--minutes", type=float, default=10.0, help="of kills")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--examples", type=int, default=100, help="of fuzz: requests of each kind to each path")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = saved_model(options.method, Path(folder) / "model")
        if options.what == "load":
            figures = load(model, options.seconds)
        elif options.what == "kills":
            figures = kills(model, options.minutes, options.kills)
        else:
            figures = fuzz(model, options.examples)
    record = {"method": options.method, "clients": CLIENTS, "cores": os.cpu_count(), **figures}
    record["load average"] = [round(value, 2) for value in os.getloadavg()]
    print(json.dumps(record, indent=1))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(record, indent=1) + "\n")


def images(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Of the shipped MNIST, some with their labels."""
    from merlin_cl.streams import stream_settings

    stream = stream_settings("split-mnist")(images_per_task=200).build(0)
    x, y = zip(*(task.test() for task in stream), strict=True)
    import torch

    x, y = torch.cat(x).numpy(), torch.cat(y).numpy()
    chosen = np.random.default_rng(seed).integers(0, len(y), count)
    return x[chosen].reshape(count, 784), y[chosen]


def saved_model(method: str, path: Path) -> Path:
    """A model of MNIST's size that has learned a little of all digits, in two tasks."""
    from merlin_cl import ContinualClassifier

    x, y = images(0, 600)
    model = ContinualClassifier(method)
    for task, chosen in (("low", y < 5), ("high", y >= 5)):
        model.partial_fit(x[chosen].reshape(-1, 28, 28), y[chosen], task=task)
    return model.end_task().save(path)


class Service:
    """`merlin serve` as a process."""

    def __init__(self, model: Path) -> None:
        command = [sys.executable, "-m", "merlin_cl.cli", "serve", str(model), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rstrip("/\n").rpartition(":")[2])
        self.token = (model.with_name(f"{model.name}.serve") / "token").read_text().strip()


def ask(connection: http.client.HTTPConnection, token: str, method: str, path: str, body: bytes = b"") -> Any:
    """An answer as JSON; RuntimeError where the service does not accept."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"{answer.status}: {content[:300]!r}")
    return json.loads(content)


def askers(port: int, token: str, seconds: float, results: Any) -> None:
    """Clients that ask single rows one after the other."""
    x, _ = images(1, 200)
    bodies = [json.dumps({"inputs": [row]}).encode() for row in x.tolist()]
    times: list[list[float]] = [[] for _ in range(CLIENTS)]
    versions: set[int] = set()
    end = time.perf_counter() + seconds

    def one(mine: list[float]) -> None:
        connection, at = http.client.HTTPConnection("127.0.0.1", port, timeout=60), 0
        while (begun := time.perf_counter()) < end:
            reply = ask(connection, token, "POST", "/predict", bodies[at % len(bodies)])
            mine.append(time.perf_counter() - begun)
            versions.add(reply["version"])
            at += 1

    threads = [threading.Thread(target=one, args=(mine,)) for mine in times]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put((sorted(value for mine in times for value in mine), len(versions)))


def load(model: Path, seconds: float) -> dict[str, Any]:
    """Answers a second, and how long they take, while rows are learned."""
    service = Service(model)
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    x, y = images(2, 5_000)
    results: Any = multiprocessing.Queue()
    clients = multiprocessing.Process(target=askers, args=(service.port, service.token, seconds, results))
    clients.start()
    begun, sent, acknowledged = time.perf_counter(), 0, []
    at_first = cpu_seconds(service.process.pid)
    while (passed := time.perf_counter() - begun) < seconds:
        if sent <= passed * ROWS_A_SECOND:
            body = {"inputs": [x[sent % 5_000].tolist()], "labels": [int(y[sent % 5_000])], "task": "all"}
            then = time.perf_counter()
            ask(connection, service.token, "POST", "/learn", json.dumps(body).encode())
            acknowledged.append(time.perf_counter() - then)
            sent += 1
        time.sleep(0.002)
    times, versions = results.get(timeout=600)
    clients.join()
    status = ask(connection, service.token, "GET", "/status")
    usage, used = resident(service.process.pid), cpu_seconds(service.process.pid) - at_first
    service.process.send_signal(signal.SIGTERM)
    service.process.wait(120)
    return {
        "answers a second": round(len(times) / seconds, 1),
        "milliseconds, median": round(1000 * statistics.median(times), 2),
        "milliseconds, 99 of 100": round(1000 * times[int(0.99 * len(times))], 2),
        "rows taught a second": round(sent / seconds, 1),
        "milliseconds to an acknowledgement, median": round(1000 * statistics.median(acknowledged), 2),
        "rows that waited at the end": status["waiting"],
        "versions that answered": versions,
        "CPU seconds of the service, a second": round(used / seconds, 2),
        "CPU milliseconds of the service, an answer": round(1000 * used / len(times), 2),
        "resident megabytes": usage,
    }


def resident(process: int) -> float:
    """Megabytes of memory that a process has."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


def cpu_seconds(process: int) -> float:
    """CPU seconds that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def kills(model: Path, minutes: float, count: int) -> dict[str, Any]:
    """Clients teach and ask while the service is killed and started again; then everything is counted."""
    from merlin_cl import ContinualClassifier

    x, y = images(3, 5_000)
    acknowledged: dict[int, int] = {}
    unsure: set[int] = set()
    numbers, lock, asked, memory = iter(range(10**9)), threading.Lock(), [0], []
    before = sum(ContinualClassifier.load(model).learner_.memory._seen.values())
    service = Service(model)
    for life in range(count + 1):
        end = time.perf_counter() + 60 * minutes / (count + 1)

        def teach(service: Service = service, end: float = end) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
            while time.perf_counter() < end:
                with lock:
                    mine = unsure.pop() if unsure else next(numbers)
                chosen = np.random.default_rng(mine).integers(0, 5_000, 5)
                body = {"id": str(mine), "inputs": x[chosen].tolist(), "labels": y[chosen].tolist(), "task": "all"}
                try:
                    reply = ask(connection, service.token, "POST", "/learn", json.dumps(body).encode())
                    acknowledged[mine] = reply["version"]
                except (OSError, http.client.HTTPException):
                    with lock:
                        unsure.add(mine)
                    return
                time.sleep(0.5)

        def question(service: Service = service, end: float = end) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
            while time.perf_counter() < end:
                try:
                    ask(connection, service.token, "POST", "/predict", json.dumps({"inputs": x[:1].tolist()}).encode())
                    asked[0] += 1
                except (OSError, http.client.HTTPException):
                    return

        threads = [threading.Thread(target=teach) for _ in range(2)] + [
            threading.Thread(target=question) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        time.sleep(max(0.0, end - time.perf_counter() - 1))
        memory.append(resident(service.process.pid))
        if life < count:
            service.process.send_signal(signal.SIGKILL)
            service.process.wait(60)
            for thread in threads:
                thread.join()
            service = Service(model)
        else:
            for thread in threads:
                thread.join()
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
    for mine in sorted(unsure):
        chosen = np.random.default_rng(mine).integers(0, 5_000, 5)
        body = {"id": str(mine), "inputs": x[chosen].tolist(), "labels": y[chosen].tolist(), "task": "all"}
        acknowledged[mine] = ask(connection, service.token, "POST", "/learn", json.dumps(body).encode())["version"]
    while ask(connection, service.token, "GET", "/health")["version"] < max(acknowledged.values()):
        time.sleep(0.2)
    service.process.send_signal(signal.SIGTERM)
    service.process.wait(120)
    newest = max((model.with_name(f"{model.name}.serve") / "versions").iterdir(), key=lambda file: int(file.stem))
    learned = sum(ContinualClassifier.load(newest).learner_.memory._seen.values()) - before
    return {
        "minutes": minutes,
        "kills": count,
        "requests acknowledged": len(acknowledged),
        "examples acknowledged": 5 * len(acknowledged),
        "examples in the model": learned,
        "lost or twice": abs(learned - 5 * len(acknowledged))
        + len(acknowledged) - len(set(acknowledged.values()) & set(range(1, len(acknowledged) + 1))),
        "answers": asked[0],
        "resident megabytes before each end": memory,
    }  # fmt: skip


def fuzz(model: Path, examples: int) -> dict[str, Any]:
    """Requests that a fuzzer makes up from the OpenAPI document, with the token: how many, and how many had a status of 5xx."""
    service = Service(model)
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{service.port}/openapi.json"]
    command += ["--checks", "not_a_server_error", "--max-examples", str(examples), "--seed", "1", "--no-color"]
    command += ["--header", f"Authorization: Bearer {service.token}", "--wait-for-schema", "120"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    headers = {"Authorization": f"Bearer {service.token}"}
    connection.request("GET", "/metrics", headers=headers)
    statuses: dict[str, int] = {}
    for line in connection.getresponse().read().decode().splitlines():
        if line.startswith("merlin_requests_total{"):
            status = line.partition('status="')[2][:3]
            statuses[status] = statuses.get(status, 0) + int(float(line.rpartition(" ")[2]))
    service.process.send_signal(signal.SIGTERM)
    service.process.wait(120)
    return {
        "requests": sum(statuses.values()),
        "by status": dict(sorted(statuses.items())),
        "5xx": sum(count for status, count in statuses.items() if status >= "500"),
        "the fuzzer's last line": done.stdout.strip().splitlines()[-1].strip()
        if done.stdout.strip()
        else done.stderr[-200:],
    }


if __name__ == "__main__":
    main()
