"""How long the report of a hundred runs takes to write and to open, and how large it is.

    python benchmarks/report_page.py [--runs 100] [--sweep] [--out FILE]
    python benchmarks/report_page.py --runs 1000 --sweep --out results/report_page/1000-sweep.json

The runs are made up, in the form in which real ones are written (`tests/report/made.py`): two streams of ten tasks, five methods
and as many seeds as it takes, MERLIN's with loss curves, priors and 200 exemplars. With `--sweep` no two runs have the same
settings, the hardest case: every run is a line of every figure and a row of every table. Opening needs Chromium and playwright,
and is left out without them. The figures to keep to, also for 1,000 runs: written in 20 s, under 8 MB, opened in 3 s.
"""

import argparse
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
METHODS = ("merlin", "gdumb-ensemble", "single", "er", "icarl")
STREAMS = ("permuted-mnist", "rotated-mnist")


def main() -> None:
    """Make the runs, write the page, open it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--sweep", action="store_true", help="every run with settings of its own")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write a record of it; tools/pages reads those of results/"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (make_sweep if options.sweep else make_runs)(root / "runs", options.runs)
        page = root / "report.html"
        wall, cpu = written(root)
        megabytes = page.stat().st_size / 1e6
        opening = opened(page)
    print(f"{options.runs} runs: written in {wall:.1f} s ({cpu:.1f} CPU s), {megabytes:.2f} MB")
    if opening is None:
        print("not opened: there is no Chromium or no playwright")
    else:
        print(f"opened in {opening[0]:.2f} s ({opening[1]:.2f} CPU s of the tab's main thread)")
    if options.out:
        seconds = {"clock": round(wall, 2), "cpu": round(cpu, 2)}
        record = {"runs": options.runs, "sweep": options.sweep, "written": seconds, "megabytes": round(megabytes, 2)}
        if opening is not None:
            record["opened"] = {"clock": round(opening[0], 2), "cpu": round(opening[1], 2)}
        record["load average"] = [round(value, 2) for value in os.getloadavg()]
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def make_runs(root: Path, count: int) -> None:
    """So many run folders."""
    sys.path.insert(0, str(ROOT / "tests"))
    from report.made import make_run  # needs torch, which the page does without

    every = ((seed, stream, method) for seed in itertools.count() for stream in STREAMS for method in METHODS)
    for seed, stream, method in itertools.islice(every, count):
        make_run(root, method, seed, stream=stream, stream_values={"tasks": 10}, held=10)


def make_sweep(root: Path, count: int) -> None:
    """So many run folders on one stream that differ in the learning rate."""
    sys.path.insert(0, str(ROOT / "tests"))
    from report.made import make_run

    for number in range(1, count + 1):
        make_run(root, "er", level=60 + 35 * number / count, learning_rate=number / count)


def written(root: Path) -> tuple[float, float]:
    """Seconds that `merlin report` takes, by the clock and of the processor, start of Python included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    command = [sys.executable, "-m", "merlin_cl.cli", "report", "runs"]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def opened(page: Path) -> tuple[float, float] | None:
    """Seconds from asking a fresh tab for the page to all figures drawn, by the clock and of the processor, least of three.

    None without a browser.
    """
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if chromium is None:
        return None
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    taken = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        for _ in range(3):
            tab = browser.new_page()
            meter = tab.context.new_cdp_session(tab)
            meter.send("Performance.enable", {"timeDomain": "threadTicks"})
            begun = time.perf_counter()
            tab.goto(page.as_uri())
            tab.wait_for_selector("html[data-ready]")
            wall = time.perf_counter() - begun
            metrics = {entry["name"]: entry["value"] for entry in meter.send("Performance.getMetrics")["metrics"]}
            taken.append((wall, metrics["TaskDuration"]))
            tab.close()
        browser.close()
    return min(wall for wall, _ in taken), min(cpu for _, cpu in taken)


if __name__ == "__main__":
    main()
