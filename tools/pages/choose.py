"""docs/choose.md: every method on the panel of data sets, from what experiments/panel.py left."""

import importlib.util
import json
from statistics import mean, median
from types import ModuleType
from typing import Any

from tools.pages.charts import heat_map
from tools.pages.markdown import NOTHING, ROOT, filled, table

from merlin_cl.report.text import stored_size

PAGE, PICTURE = "docs/choose.md", "docs/images/choose.svg"
PANEL = ROOT / "experiments" / "results" / "panel"
RARE = PANEL.parent / "rare.json"
KINDS = ("vectors", "small images", "photographs")
Cells = dict[str, list[dict[str, Any]]]
"""What was measured, by set."""


def read_cells() -> Cells:
    """Return what was measured, by data set."""
    return {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(PANEL.glob("*.json"))}


def leaders() -> str:
    """Say which three methods that take every set are best in the mean; empty while nothing is measured."""
    cells = read_cells()
    means = {
        method: mean(values.values())
        for method, values in by_method(cells).items()
        if len(values) == len(cells) and method != "joint"
    }
    best = sorted(means, key=lambda method: -means[method])[:3]
    if not best:
        return ""
    told = ", ".join(f"`{method}` {means[method]:.1f} %" for method in best)
    return f"On [{len(cells)} data sets that are no benchmarks](docs/choose.md), with defaults, the best in the mean are {told}."


def pages() -> dict[str, str]:
    """Return the page and its picture."""
    cells = read_cells()
    if not cells:
        return {PAGE: filled(PAGE, dict.fromkeys(("picture", "panel", "control", "rare", "rule"), NOTHING))}
    rule = panel_rule()
    accuracy = by_method(cells)
    picture = heat_map(accuracy, [(name, name) for name in cells], "Test accuracy with defaults, %", "choose")
    parts = {
        "picture": f"![Test accuracy of every method on every data set of the panel](images/{PICTURE.rsplit('/')[-1]})",
        "panel": panel(cells, accuracy, rule),
        "control": control(accuracy),
        "rare": rare(),
        "rule": check(rule, rule.scores(PANEL)),
    }
    return {PAGE: filled(PAGE, parts), PICTURE: picture}


def panel_rule() -> ModuleType:
    """Return experiments/panel_rule.py, which is a program and no package."""
    spec = importlib.util.spec_from_file_location("panel_rule", ROOT / "experiments" / "panel_rule.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_method(cells: Cells) -> dict[str, dict[str, float]]:
    """Return the mean test accuracy over seeds, by method and set; a method that refuses a set has none."""
    scores: dict[str, dict[str, float]] = {}
    for name, measured in cells.items():
        for method in dict.fromkeys(cell["method"] for cell in measured):
            values = [cell["test"] for cell in measured if cell["method"] == method and "refused" not in cell]
            if values:
                scores.setdefault(method, {})[name] = mean(values)
    return scores


def panel(cells: Cells, accuracy: dict[str, dict[str, float]], rule: ModuleType) -> str:
    """Return the table of methods, the best in the mean of all sets first; those that miss sets come last."""
    rows = []
    for method, values in accuracy.items():
        own = [cell for measured in cells.values() for cell in measured if cell["method"] == method and "test" in cell]
        of_kinds = [
            [value for name, value in values.items() if rule.KINDS.get(name, "vectors") == kind] for kind in KINDS
        ]
        rows.append(
            (
                (len(values) < len(cells), -mean(values.values())),
                [
                    f"`{method}`",
                    f"{len(values)} of {len(cells)}",
                    f"{mean(values.values()):.1f}",
                    *(f"{mean(some):.1f}" if some else "–" for some in of_kinds),
                    f"{median(cell['ms_a_batch'] for cell in own):.1f}",
                    f"{median(cell['ms_a_prediction'] for cell in own):.1f}",
                    stored_size(int(median(cell["bytes"] for cell in own))),
                ],
            )
        )
    headings = ("method", "sets:", "accuracy:", *(f"{kind}:" for kind in KINDS), "learn:", "answer:", "kept:")
    seeds = {len({cell["seed"] for cell in measured}) for measured in cells.values()}
    told = (
        f"Seeds: {min(seeds)}"
        if len(seeds) == 1
        else f"Seeds: {min(seeds)} to {max(seeds)}, as far as they have been run"
    )
    whole = sum(len(values) == len(cells) for values in accuracy.values())
    if whole < len(accuracy):
        asked = all({cell["method"] for cell in measured} >= accuracy.keys() for measured in cells.values())
        others = "others refuse some" if asked else "the others have been run as far as the table says"
        told += f"; {whole} of {len(accuracy)} methods take every set, {others}"
    return f"{table(headings, [row for _, row in sorted(rows, key=lambda pair: pair[0])])}\n\n{told}."


def control(accuracy: dict[str, dict[str, float]]) -> str:
    """Return MERLIN on every set beside its control and `slda`; where it is furthest behind the better of these stands first."""
    merlin, alone, analysis = (accuracy[method] for method in ("merlin", "gdumb-ensemble", "slda"))
    ahead = {name: value - max(alone[name], analysis[name]) for name, value in merlin.items()}
    rows = [
        (name, *(f"{scores[name]:.1f}" for scores in (merlin, alone, analysis)))
        for name in sorted(ahead, key=lambda name: ahead[name])
    ]
    return table(("data set", "`merlin`:", "`gdumb-ensemble`:", "`slda`:"), rows)


def rare() -> str:
    """Return what methods know of rare classes, and what that costs."""
    if not RARE.exists():
        return NOTHING
    cells = json.loads(RARE.read_text("utf-8"))
    ways = ("alike", "as_they_came", "frequent", "rare")
    rows = []
    for method in dict.fromkeys(cell["method"] for cell in cells):
        own = [cell for cell in cells if cell["method"] == method]
        rows.append((f"`{method}`", *(f"{mean(cell[way] for cell in own):.1f}" for way in ways)))
    return table(("method", "all classes alike:", "as often as they came:", "frequent ones:", "rare ones:"), rows)


def check(rule: ModuleType, measured: Any) -> str:
    """Return what is recommended for every set by all others, and how that does."""
    rows = []
    for name, (method, accuracy) in rule.left_out(measured).items():
        best = max(measured[name], key=lambda one: measured[name][one]["test"])
        rows.append((name, f"`{method}`", f"{accuracy:.1f}", f"`{best}`", f"{measured[name][best]['test']:.1f}"))
    single, accuracy = rule.best_single(measured)
    told = (
        "Every set is left out in turn: what the held-out parts of the others recommend is scored on its test part. "
        f"In the mean this gives {mean(value for _, value in rule.left_out(measured).values()):.1f} %; the method that is best "
        f"in the mean of all test parts, `{single}`, has {accuracy:.1f} %, and the best of each set, which nobody could know, "
        f"{rule.best_of_each(measured):.1f} %. The rule as it ships, which knows the held-out parts of all sets, "
        f"has {rule.shipped(measured):.1f} %."
    )
    return told + "\n\n" + table(("data set", "recommended by the others", "test:", "best there", "test:"), rows)
