"""The sentence of README.md on how long it takes from `git clone` to the first figure, from results/first_result/clone.json."""

import json
from pathlib import Path
from typing import Any

from tools.pages.markdown import ROOT

RECORD = ROOT / "results" / "first_result" / "clone.json"


def time_to_first_result(file: Path = RECORD) -> str:
    """Say what every step takes, and what was measured where; nothing before it was measured."""
    if not file.exists():
        return ""
    record: dict[str, Any] = json.loads(file.read_text("utf-8"))
    steps = {name: seconds["clock"] for name, seconds in record["steps"].items()}
    clone, installation, first = (steps[name] for name in ("git clone", "installation", "first accuracy on the screen"))
    demo = next(seconds for name, seconds in steps.items() if name.startswith("make "))
    parts = f"{clone:.0f} s to clone, {installation:.0f} s to install from files at hand, {first:.0f} s to learn a first task"
    whole, load = clone + installation + first, record["load average"][0]
    return (
        f"From `git clone` to the first accuracy on the screen: {whole:.0f} s ({parts}); the whole demonstration: {demo:.0f} s. "
        f"Measured by `{record['command']}` on {record['cores']} cores at a load average of {load:.1f}."
    )
