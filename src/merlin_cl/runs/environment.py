"""Where a run was computed: what may explain a difference between two machines."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from merlin_cl import __version__


def environment(threads: int) -> dict[str, Any]:
    """Versions, machine, git revision of the code if it has one, threads."""
    return {
        "versions": {"python": platform.python_version(), "merlin-cl": __version__}
        | {name: version(name) for name in ("torch", "numpy", "safetensors")},
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        },
        "git_revision": git_revision(Path(__file__).parent),
        "threads": threads,
    }


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """In which ways that may change results two environments differ, in words."""
    versions = {**before["versions"], **now["versions"]}
    different = [
        f"{name} {before['versions'].get(name)} became {now['versions'].get(name)}"
        for name in versions
        if before["versions"].get(name) != now["versions"].get(name)
    ]
    if before["git_revision"] != now["git_revision"]:
        different.append("the code is at another commit")
    if before["machine"] != now["machine"]:
        different.append("the machine is another")
    return different


def git_revision(folder: Path) -> str | None:
    """The commit checked out around `folder`, `-changed` appended where files differ from it; None outside a repository."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    # An installed copy may sit inside somebody else's repository, which says nothing about this code.
    if not _git(folder, "ls-files", "--", __file__):
        return None
    return commit + ("-changed" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _processor() -> str:
    """The name of the processor, which Linux tells only in a file."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
