"""Run every rival on Split MNIST and Permuted MNIST, five seeds: the tables of docs/rivals.md.

    OMP_NUM_THREADS=1 python benchmarks/rivals.py --out runs       # what is finished is skipped
    python tools/collect_results.py runs/*                         # keeps what they found under results/
    python -m tools.pages                                          # writes the pages

    python benchmarks/rivals.py --streams split-mnist --methods all --workers 2 --out fresh    # times the whole table

Seeds come in order, all methods of a seed before the next, so that a table of few seeds is there early. MERLIN and its control
(`--methods merlin gdumb-ensemble`, or `all`) take longer than all others together and are left out unless named. Each run is a
process of its own with one thread, forked from one that has imported everything: its cost and its memory are its own.
`--workers` says how many run at once. At the end it says how long all took.
"""

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from merlin_cl.cli import exit_code
from merlin_cl.learners.registry import BUILT_IN
from merlin_cl.runs import run as _imported_for_all  # noqa: F401
from merlin_cl.runs.progress import clock_time

STREAMS = ("split-mnist", "permuted-mnist")
APART = ("merlin", "gdumb-ensemble")
FORMS = {
    "ewc": ["--online"],
    "gss": ["--selection", "integer"],
    "slda": ["--features", "learned"],
    "simplecil": ["--features", "learned"],
}
"""Second forms of methods that have two."""


def jobs(streams: list[str], methods: list[str], seeds: list[int]) -> list[list[str]]:
    """The arguments of `merlin run`, run after run."""
    found = []
    for stream in streams:
        for seed in seeds:
            for method in methods:
                if method == "icarl" and stream == "permuted-mnist":
                    continue  # new classes only
                forms: list[list[str]] = [[]] + ([FORMS[method]] if method in FORMS else [])
                found += [[stream, "--method", method, "--seed", str(seed), *form] for form in forms]
    return found


def in_processes_of_their_own(
    todo: list[list[str]], workers: int, call: Callable[[list[str]], int]
) -> Iterator[tuple[list[str], int]]:
    """Call each in a forked process, so many at once; gives each with its exit code as it ends."""
    waiting, running = list(reversed(todo)), dict[int, list[str]]()
    while waiting or running:
        while waiting and len(running) < workers:
            arguments = waiting.pop()
            child = os.fork()
            if child == 0:
                sys.stdout = open(os.devnull, "w")  # noqa: SIM115
                os._exit(call(arguments))
            running[child] = arguments
        child, status = os.wait()
        if child in running:
            yield running.pop(child), os.waitstatus_to_exitcode(status)


def main() -> None:
    """Run what is not finished yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument(
        "--methods", nargs="+", choices=[*BUILT_IN, "all"], default=[m for m in BUILT_IN if m not in APART]
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--workers", type=int, default=1, help="runs at once, a core each")
    parser.add_argument("--out", type=Path, default=Path("runs"))
    options = parser.parse_args()
    if options.workers < 1:
        parser.error(f"workers is {options.workers}; it must be at least 1.")
    torch.set_num_threads(1)
    methods = list(BUILT_IN) if "all" in options.methods else options.methods
    todo = jobs(options.streams, methods, options.seeds)
    begun, failed = time.monotonic(), []
    ended = in_processes_of_their_own(
        todo, options.workers, lambda arguments: exit_code(["run", *arguments, "--out", str(options.out)])
    )
    for done, (arguments, code) in enumerate(ended, start=1):
        if code != 0:
            failed.append(" ".join(arguments))
        left = clock_time((time.monotonic() - begun) / done * (len(todo) - done))
        print(f"{done}/{len(todo)} {' '.join(arguments)}, about {left} left", file=sys.stderr, flush=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{len(todo)} runs, {options.workers} at once: {clock_time(time.monotonic() - begun)} in all, "
        f"{clock_time(used.ru_utime + used.ru_stime)} of CPU time, what was finished before not counted."
    )
    if failed:
        sys.exit(f"{len(failed)} of {len(todo)} runs failed: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
