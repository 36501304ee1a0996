"""docs/benchmarks.md: methods that Avalanche has, too, side by side with ours in one process."""

import json
from typing import Any

from tools.pages.markdown import NOTHING, ROOT, table, template

from merlin_cl.learners.registry import BUILT_IN
from merlin_cl.metrics import mean, standard_deviation
from merlin_cl.report.text import NONE, parts

Figures = dict[str, Any]
HEADINGS = (
    "method",
    "seeds:",
    "final, ours:",
    "theirs:",
    "difference:",
    "ms an example, ours:",
    "theirs:",
    "ratio:",
    "by task: final:",
    "ms:",
)


def pages() -> dict[str, str]:
    """Return the page."""
    files = sorted((ROOT / "results" / "parity").glob("*.json"))
    return {"docs/benchmarks.md": page([json.loads(file.read_text("utf-8")) for file in files])}


def page(parity: list[Figures]) -> str:
    """Return the page that some comparisons make."""
    return template("benchmarks.md", parity=_parity(parity))


def _parity(parity: list[Figures]) -> str:
    if not parity:
        return NOTHING
    order = list(BUILT_IN)
    rows = [_cells(record) for record in sorted(parity, key=lambda record: order.index(record["method"]))]
    versions = " and ".join(dict.fromkeys(parts(record["versions"]) for record in parity))
    revisions = ", ".join(dict.fromkeys(record["revision"][:9] for record in parity))
    return f"{table(HEADINGS, rows)}\n\n{versions}; revision {revisions}. Data: {parity[0]['source']}."


def _cells(record: Figures) -> list[str]:
    def of(side: str, figure: str) -> list[float]:
        return [run[side][figure] for run in record["runs"]]

    def accuracy(side: str) -> str:
        values = of(side, "final_accuracy")
        deviation = standard_deviation(values)
        return f"{mean(values):.1f}" + ("" if deviation is None else f" ± {deviation:.1f}")

    accuracies = [mean(of(side, "final_accuracy")) for side in ("ours", "theirs")]
    times = [mean(of(side, "milliseconds_per_example")) for side in ("ours", "theirs")]
    by_task = "theirs_by_task" in record["runs"][0]
    return [
        f"`{record['method']}`",
        str(len(record["runs"])),
        accuracy("ours"),
        accuracy("theirs"),
        f"{accuracies[0] - accuracies[1]:+.1f}",
        f"{times[0]:.2f}",
        f"{times[1]:.2f}",
        f"{times[0] / times[1]:.2f}",
        accuracy("theirs_by_task") if by_task else NONE,
        f"{mean(of('theirs_by_task', 'milliseconds_per_example')):.2f}" if by_task else NONE,
    ]
