"""Run the code of docs/distribution.md, block by block, and keep what it printed and found.

    python experiments/distribution.py && python -m tools.pages distribution

The page is its own program: nothing is computed here but what its blocks compute. Data sets of this machine are not looked at, so
that the page is about the slice of MNIST that the package ships.
"""

import contextlib
import io
import json
import os
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "distribution.md"
RESULT = ROOT / "experiments" / "results" / "distribution" / "page.json"
BLOCK = re.compile(r"```python\n(.*?)```\n\n<!-- (\w+): written", re.DOTALL)


def main() -> None:
    """Run the page."""
    os.environ.pop("MERLIN_DATA", None)
    known: dict[str, Any] = {}
    printed: dict[str, list[str]] = {}
    for code, name in BLOCK.findall(PAGE.read_text("utf-8")):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, PAGE.name, "exec"), known)
        printed[name] = said.getvalue().splitlines()
        print(said.getvalue(), end="")
    record = {
        "printed": printed,
        "plane": [[[round(float(value), 4) for value in point] for point in points] for points in known["plane"]],
        "sure": [round(float(value), 4) for value in known["sure"]],
        "unsure": [round(float(value), 4) for value in known["unsure"]],
        "asked": [_asked(*known[name]) for name in ("of_known", "of_strange")],
    }
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(record, separators=(",", ":")) + "\n", "utf-8")


def _asked(image: Any, said: list[tuple[list[int], list[float]]]) -> dict[str, Any]:
    """Return an input, every other pixel, and what models say of it."""
    rounded = [[classes, [round(share, 3) for share in shares]] for classes, shares in said]
    return {"image": image[0, ::2, ::2].tolist(), "said": rounded}


if __name__ == "__main__":
    main()
