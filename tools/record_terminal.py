"""Record what a command writes to a terminal, as it comes, into results/recordings/; `python -m tools.pages recording` draws it.

    python tools/record_terminal.py demo -- merlin demo

The command runs in an empty folder, in a terminal of 80 columns. What is kept is what it wrote and when, to a tenth of a second.
"""

import argparse
import json
import os
import pty
import select
import struct
import subprocess
import tempfile
import time
from collections.abc import Sequence
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

RECORDINGS = Path(__file__).resolve().parents[1] / "results" / "recordings"
ROWS, COLUMNS = 40, 80


def record(command: Sequence[str], folder: Path) -> tuple[list[tuple[float, str]], int]:
    """Run a command in a terminal; return what it wrote at which second, and its exit code."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    settings = {
        "TERM": "xterm-256color",
        "COLORTERM": "",
        "COLUMNS": str(COLUMNS),
        "LINES": str(ROWS),
        "OMP_NUM_THREADS": "1",
    }
    begun = time.monotonic()
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=os.environ | settings, close_fds=True
    )
    os.close(theirs)
    written: dict[float, bytes] = {}
    while True:
        ready, _, _ = select.select([ours], [], [], 0.1)
        if not ready and process.poll() is not None:
            break
        if ready:
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other end has closed
                break
            moment = round(time.monotonic() - begun, 1)
            written[moment] = written.get(moment, b"") + data
    os.close(ours)
    return [(moment, data.decode("utf-8", "replace")) for moment, data in written.items()], process.wait()


def main() -> int:
    """Record a command; its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="merlin-recording-") as folder:
        written, code = record(options.command, Path(folder))
    if code == 0:
        RECORDINGS.mkdir(parents=True, exist_ok=True)
        kept = {"command": " ".join(options.command), "rows": ROWS, "columns": COLUMNS, "written": written}
        (RECORDINGS / f"{options.name}.json").write_text(json.dumps(kept, ensure_ascii=False, indent=0) + "\n", "utf-8")
        print(RECORDINGS / f"{options.name}.json")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
