"""The rule of `ContinualClassifier(method="auto")`, from what `panel.py` measured, and how far it is from the best.

    python experiments/panel_rule.py                # writes src/merlin_cl/estimator/preferences.json, prints the check
    python experiments/panel_rule.py --check        # prints alone

Methods of a group of sets are ordered by their mean rank on the held-out parts: one set on which a method fails would decide a
mean of accuracies among methods that are otherwise as good. The check leaves every set out in turn: what the others' held-out
parts recommend is scored on its test part, beside the method that is best in the mean of all test parts.
"""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PANEL = ROOT / "experiments" / "results" / "panel"
RULE = ROOT / "src" / "merlin_cl" / "estimator" / "preferences.json"
KINDS = {"letters": "small images", "letters-scanned": "small images", "signs": "photographs"}
"""What inputs are; of sets that are not named, vectors."""
SHARING = {"breast-cancer", "drift", "letters-scanned"}
"""Sets whose tasks share their classes."""
NO_ADVICE = {"joint", "single", "auto"}
"""The ceiling, which keeps everything, the floor, and the rule itself."""
Scores = dict[str, dict[str, dict[str, float]]]
"""By set, method and part ("held_out", "test"): the mean over seeds, of methods that every seed has."""


def scores(folder: Path = PANEL) -> Scores:
    """What was measured."""
    by_set: Scores = {}
    for file in sorted(folder.glob("*.json")):
        cells = json.loads(file.read_text("utf-8"))
        seeds = {cell["seed"] for cell in cells}
        for method in dict.fromkeys(cell["method"] for cell in cells):
            own = [cell for cell in cells if cell["method"] == method and "refused" not in cell]
            if {cell["seed"] for cell in own} == seeds and method not in NO_ADVICE:
                parts = {part: mean(cell[part] for cell in own) for part in ("held_out", "test")}
                by_set.setdefault(file.stem, {})[method] = parts
    return by_set


def keys(name: str) -> list[tuple[str, str]]:
    """The groups that a set belongs to, the narrowest first."""
    kind = KINDS.get(name, "vectors")
    scenario = "domain-incremental" if name in SHARING else "class-incremental"
    return [(kind, scenario), (kind, "any"), ("any kind", "any")]


def rule(measured: Scores) -> list[dict[str, Any]]:
    """The groups, and the methods that all sets of a group have with their mean accuracy, that of the best mean rank first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in measured:
        for key in keys(name):
            groups.setdefault(key, []).append(name)
    preferences = []
    for (kind, scenario), names in groups.items():
        methods = [m for m in measured[names[0]] if all(m in measured[name] for name in names)]
        places = {method: mean(_rank(measured[name], method, methods) for name in names) for method in methods}
        worth = {method: round(mean(measured[name][method]["held_out"] for name in names), 2) for method in methods}
        best_first = sorted(methods, key=lambda method: (places[method], -worth[method]))
        of_group = {method: worth[method] for method in best_first}
        preferences.append({"kind": kind, "scenario": scenario, "sets": names, "methods": of_group})
    return preferences


def _rank(of: dict[str, dict[str, float]], method: str, methods: list[str]) -> float:
    """The place of a method on a held-out part, 1 the best; methods that are as good share the mean of their places."""
    own = of[method]["held_out"]
    better = sum(of[other]["held_out"] > own for other in methods)
    alike = sum(of[other]["held_out"] == own for other in methods)
    return better + (alike + 1) / 2


def recommended(name: str, groups: Iterable[dict[str, Any]]) -> str:
    """The method that a rule has for a set."""
    by_key = {(group["kind"], group["scenario"]): group for group in groups}
    group = next(by_key[key] for key in keys(name) if key in by_key)
    return str(next(iter(group["methods"])))


def left_out(measured: Scores) -> dict[str, tuple[str, float]]:
    """For every set, what the other sets recommend for it, and how that does on its test part."""
    picks = {}
    for name in measured:
        method = recommended(name, rule({other: of for other, of in measured.items() if other != name}))
        if method not in measured[name]:  # it refuses such tasks
            method = recommended(name, rule(measured))
        picks[name] = (method, measured[name][method]["test"])
    return picks


def shipped(measured: Scores) -> float:
    """How the rule of all sets does in the mean of their test parts."""
    groups = rule(measured)
    return mean(of[recommended(name, groups)]["test"] for name, of in measured.items())


def best_single(measured: Scores) -> tuple[str, float]:
    """The one method that is best in the mean of all test parts."""
    everywhere = [method for method in next(iter(measured.values())) if all(method in of for of in measured.values())]
    return max(((m, mean(of[m]["test"] for of in measured.values())) for m in everywhere), key=lambda pair: pair[1])


def best_of_each(measured: Scores) -> float:
    """The mean over sets of the best test accuracy of any method: what nobody could know beforehand."""
    return mean(max(parts["test"] for parts in of.values()) for of in measured.values())


def main() -> None:
    """Write the rule and say how good it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--panel", type=Path, default=PANEL)
    options = parser.parse_args()
    measured = scores(options.panel)
    if not options.check:
        RULE.write_text(json.dumps(rule(measured), indent=1) + "\n", "utf-8")
    for name, (method, accuracy) in left_out(measured).items():
        best = max(measured[name], key=lambda m: measured[name][m]["test"])
        print(f"{name:17} {method:16} {accuracy:6.2f}   best there: {best:16} {measured[name][best]['test']:6.2f}")
    single, accuracy = best_single(measured)
    print(f"left out {mean(score for _, score in left_out(measured).values()):.2f}, best single method {single} {accuracy:.2f}, "
          f"best of each set {best_of_each(measured):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
