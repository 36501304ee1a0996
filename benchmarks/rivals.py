"""Run every rival on Split MNIST and Permuted MNIST, five seeds, one run at a time: the tables of docs/rivals.md.

    OMP_NUM_THREADS=1 python benchmarks/rivals.py --out runs       # what is finished is skipped
    python tools/collect_results.py runs/*                         # keeps what they found under results/
    python tools/rivals_page.py                                    # writes the page

Seeds come in order, all methods of a seed before the next, so that a table of few seeds is there early. MERLIN and its control
(`--methods merlin gdumb-ensemble`) take longer than all others together and are left out unless named. Each run is a process of
its own, forked from one that has imported everything: what it costs and how much memory it takes is its own.
"""

import argparse
import os
import sys
import time
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


def in_a_process_of_its_own(arguments: list[str]) -> int:
    """Call the command line in a forked process; gives its exit code."""
    child = os.fork()
    if child == 0:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        os._exit(exit_code(arguments))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    """Run what is not finished yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--methods", nargs="+", choices=list(BUILT_IN), default=[m for m in BUILT_IN if m not in APART])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--out", type=Path, default=Path("runs"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    todo = jobs(options.streams, options.methods, options.seeds)
    begun, failed = time.monotonic(), []
    for done, arguments in enumerate(todo, start=1):
        if in_a_process_of_its_own(["run", *arguments, "--out", str(options.out)]) != 0:
            failed.append(" ".join(arguments))
        left = clock_time((time.monotonic() - begun) / done * (len(todo) - done))
        print(f"{done}/{len(todo)} {' '.join(arguments)}, about {left} left", file=sys.stderr, flush=True)
    if failed:
        sys.exit(f"{len(failed)} of {len(todo)} runs failed: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
