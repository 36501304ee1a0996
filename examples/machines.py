"""Machines' sensor tables with drift: `python examples/machines.py`, under two minutes.

Five sensors of a pump say whether it runs well or what ails it. Then a bearing is changed and the thermometer is moved, so that
the same ailments look otherwise; later winter comes; at last the old pump is put back. Nobody tells the learner when. It is asked
about every fifty rows before it learns them, finds by itself where things have changed, and is compared with a classifier that
learned the first days and was never touched again.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from merlin_cl import ContinualClassifier

SENSORS = ("temperature", "vibration", "current", "pressure", "speed")
FINE = np.array([62.0, 1.1, 14.0, 5.2, 1480.0])
"""What the sensors read when all is well: degrees, mm/s, ampere, bar, turns a minute."""
AILMENTS = {
    "fine": np.zeros(5),
    "bearing": np.array([9.0, 1.5, 0.8, 0.0, -8.0]),
    "leak": np.array([-2.0, 0.2, -2.2, -1.3, 14.0]),
    "overload": np.array([7.0, 0.5, 4.5, 0.4, -35.0]),
}
NOISE = np.array([2.2, 0.35, 0.8, 0.3, 7.0])
PERIODS = {
    "as installed": np.zeros(5),
    "new bearing": np.array([9.0, 1.3, 0.0, 0.0, 0.0]),
    "winter": np.array([-9.0, 1.3, -2.4, -1.2, 14.0]),
    "old pump again": np.zeros(5),
}
"""How far all readings lie from those of the first days."""
CHUNK = 50


def readings(period: str, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of sensor readings and what ailed the pump."""
    draws = np.random.default_rng([seed, list(PERIODS).index(period)])
    labels = draws.choice(list(AILMENTS), count, p=(0.4, 0.2, 0.2, 0.2))
    rows = FINE + PERIODS[period] + np.stack([AILMENTS[str(label)] for label in labels])
    return rows + draws.normal(0, 1, rows.shape) * NOISE, labels


def watched(count: int) -> tuple[list[float], list[float], list[int]]:
    """Shares of rows named right before they were learned, chunk by chunk: by the learner and by what was never touched again;
    and the chunks at which the learner found a change."""
    model = ContinualClassifier("er", scenario="domain-incremental", boundaries="detected", standardise=True)
    untouched = make_pipeline(StandardScaler(), LogisticRegression())
    learned, stale, changes = [], [], []
    for period in PERIODS:
        x, y = readings(period, count, 0)
        for start in range(0, count, CHUNK):
            some_x, some_y = x[start : start + CHUNK], y[start : start + CHUNK]
            if not learned:
                untouched.fit(x, y)  # all the first days, at once
            else:
                tasks = len(model.visits_)
                learned_right, stale_right = model.predict(some_x) == some_y, untouched.predict(some_x) == some_y
                stale.append(float(stale_right.mean()))
                learned.append(float(learned_right.mean()))
            model.partial_fit(some_x, some_y)
            if not learned:
                learned.append(float("nan"))
                stale.append(float("nan"))
            elif len(model.visits_) > tasks:
                changes.append(len(learned) - 1)
    return learned, stale, changes


def draw(learned: list[float], stale: list[float], changes: list[int], path: Path) -> None:
    """Both lines over time, the periods behind them, and what the learner found."""
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "machines"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6.6, 4.2), layout="constrained")
    long = len(learned) // len(PERIODS)
    for at, name in enumerate(PERIODS):
        axes.axvspan(at * long, (at + 1) * long, color="#e8eef7" if at % 2 == 0 else "#f7f1e3", lw=0)
        axes.text((at + 0.5) * long, 1.06, name, ha="center", fontsize=10.5)
    days = np.arange(len(learned)) + 0.5
    axes.plot(days, _smooth(stale), color="#999999", lw=2)
    axes.plot(days, _smooth(learned), color="#1f4e9c", lw=2)
    axes.text(
        days[-1] + 0.6, _smooth(learned)[-1] + 0.02, "goes on\nlearning", color="#1f4e9c", va="bottom", fontsize=11
    )
    axes.text(days[-1] + 0.6, _smooth(stale)[-1] - 0.02, "never\ntouched", color="#777777", va="top", fontsize=11)
    for change in changes:
        axes.axvline(change, ymax=0.9, color="#b2182b", ls=":", lw=1.5)
    axes.plot([], [], color="#b2182b", ls=":", label="a change it found by itself")
    axes.legend(loc="lower left", frameon=True, framealpha=0.95, edgecolor="none", fontsize=11)
    axes.set_ylim(0, 1.15)
    axes.set_xlim(0, len(learned) * 1.16)
    axes.spines["bottom"].set_bounds(0, len(learned))
    axes.set_xticks(range(0, len(learned) + 1, long))
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel(f"rows, in chunks of {CHUNK}")
    axes.set_title("Named right before it was learned (three chunks averaged)", loc="left", fontsize=12, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _smooth(values: list[float]) -> np.ndarray:
    return np.array([np.nanmean(values[max(0, at - 2) : at + 1]) if at else np.nan for at in range(len(values))])


def main() -> None:
    """Watch, draw, and say what it means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("machines.svg"), help="where to draw the picture")
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    options = parser.parse_args()
    if not options.out.parent.is_dir() or options.out.suffix not in (".svg", ".png", ".pdf"):
        parser.error(f"cannot draw {options.out}; name a .svg, .png or .pdf file in a folder that is there.")
    learned, stale, changes = watched(400 if options.quick else 1000)
    draw(learned, stale, changes, options.out)
    long = len(learned) // len(PERIODS)
    later = slice(long, None)
    print(
        f"After the pump changed, the learner named {np.nanmean(learned[later]):.0%} of rows right before it learned them, what "
        f"was never touched again {np.nanmean(stale[later]):.0%}; of {len(PERIODS) - 1} changes it found "
        f"{sum(any(0 <= change - at * long <= 4 for change in changes) for at in range(1, len(PERIODS)))} within 250 rows and "
        f"{len(changes)} in all. Drawn in {options.out}."
    )


if __name__ == "__main__":
    main()
