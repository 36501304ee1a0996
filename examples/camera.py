"""A camera's classifier that meets new objects: `python examples/camera.py`, under a minute.

A camera above a belt sees small coloured scenes: an object somewhere, of some size, colour and light, on a noisy ground. It was
taught three objects; then two more turn up that nobody has told it of. It says of them that they are strange rather than call
them by a name it knows; a person names forty of each, and it knows five. What it learns from are edges: `features=` is a plain
function below, in the place where a trained network would stand.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np

from merlin_cl import ContinualClassifier

SIDE = 32
KNOWN, NEW = ("ball", "box", "cone"), ("cross", "comb")
SHOWN = 6
"""Scenes in a row of the picture."""
CELLS, DIRECTIONS = 4, 9
STRANGE = 0.95
"""Novelty above which the camera asks a person: one in twenty known objects does, too."""


def scenes(objects: tuple[str, ...], count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """So many scenes of each object, bytes [n, side, side, 3], in random order, and what is in each."""
    draws = np.random.default_rng(seed)
    labels = draws.permutation(np.repeat(objects, count))
    return np.stack([_scene(str(label), draws) for label in labels]), labels


def _scene(thing: str, draws: np.random.Generator) -> np.ndarray:
    down, right = np.mgrid[:SIDE, :SIDE].astype(float)
    radius, angle = draws.uniform(9, 11), draws.uniform(-0.2, 0.2)
    y, x = down - SIDE / 2 - draws.uniform(-1.5, 1.5), right - SIDE / 2 - draws.uniform(-1.5, 1.5)
    y, x = np.cos(angle) * y - np.sin(angle) * x, np.sin(angle) * y + np.cos(angle) * x
    far = np.hypot(y, x) / radius
    inside = {
        "ball": far < 1,
        "box": np.maximum(abs(y), abs(x)) < 0.85 * radius,
        "cone": (y > -radius) & (y < 0.8 * radius) & (abs(x) < (y + radius) / 1.9),
        "comb": (np.maximum(abs(y), abs(x)) < radius) & ((y < -0.5 * radius) | (x % (0.5 * radius) < 0.25 * radius)),
        "cross": (np.minimum(abs(y), abs(x)) < 0.28 * radius) & (np.maximum(abs(y), abs(x)) < radius),
    }[thing]
    ground = draws.uniform(60, 130, 3) + 12 * np.sin(right / draws.uniform(3, 6))[..., None]
    colour = draws.uniform(0, 255, 3)
    while abs(colour.mean() - ground.mean()) < 45:  # nobody could see it
        colour = draws.uniform(0, 255, 3)
    light = 1 + 0.25 * (x / SIDE)[..., None]
    picture = np.where(inside[..., None], colour * light, ground) + draws.normal(0, 7, (SIDE, SIDE, 3))
    return np.clip(picture, 0, 255).astype(np.uint8)


def edges(images: np.ndarray) -> np.ndarray:
    """How strong edges of nine directions are in each of sixteen cells: [n, 144], each image of length one."""
    grey = images.astype(float).mean(axis=1)  # [n, side, side]; features get channels first
    down, right = np.gradient(grey, axis=(1, 2))
    strength = np.hypot(down, right)
    which = (np.arctan2(down, right) % np.pi / np.pi * DIRECTIONS).astype(int) % DIRECTIONS
    maps = np.stack([strength * (which == one) for one in range(DIRECTIONS)], axis=1)
    size = SIDE // CELLS
    cells = maps.reshape(len(images), DIRECTIONS, CELLS, size, CELLS, size).sum(axis=(3, 5)).reshape(len(images), -1)
    return np.asarray(cells / np.linalg.norm(cells, axis=1, keepdims=True))


def said(model: ContinualClassifier, images: np.ndarray) -> list[str]:
    """What the camera says of each scene: a name and how sure it is, or that it does not know."""
    names, sure, strange = (
        model.predict(images),
        model.predict_proba(images).max(axis=1),
        model.novelty(images) > STRANGE,
    )
    return [
        "?  strange" if odd else f"{name} {share:.0%}" for name, share, odd in zip(names, sure, strange, strict=True)
    ]


def draw(rows: list[tuple[str, np.ndarray, list[str]]], path: Path) -> None:
    """Rows of scenes with what was said below each."""
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "camera"
    from matplotlib import pyplot as plt

    wide = len(rows[0][2])
    figure = plt.figure(figsize=(1.3 * wide, 1.95 * len(rows)), layout="constrained")
    parts = figure.subfigures(len(rows), 1)
    for part, (title, images, words) in zip(parts, rows, strict=True):
        part.suptitle(title, x=0.01, ha="left", fontsize=13)
        axes = part.subplots(1, wide)
        for one, image, word in zip(axes, images, words, strict=True):
            one.imshow(image)
            one.set_xticks([])
            one.set_yticks([])
            one.set_xlabel(word, fontsize=12, color="#b2182b" if word.startswith("?") else "#1b5e20")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Teach, meet, teach, and say what it means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("camera.svg"), help="where to draw the picture")
    parser.add_argument("--quick", action="store_true", help="fewer scenes")
    options = parser.parse_args()
    if not options.out.parent.is_dir() or options.out.suffix not in (".svg", ".png", ".pdf"):
        parser.error(f"cannot draw {options.out}; name a .svg, .png or .pdf file in a folder that is there.")
    settings = {"features": "inputs", "shrinkage": 0.1}
    model = ContinualClassifier("slda", settings=settings, features=edges, calibration=300)
    model.partial_fit(*scenes(KNOWN, 200 if options.quick else 700, 0), task="first").end_task()
    known_x, known_y = scenes(KNOWN, 40, 1)
    new_x, new_y = scenes(NEW, 40, 2)
    before = (model.predict(known_x) == known_y).mean()
    strange, alarms = (model.novelty(new_x) > STRANGE).mean(), (model.novelty(known_x) > STRANGE).mean()
    rows = [
        ("objects it was taught", known_x[:SHOWN], said(model, known_x[:SHOWN])),
        ("two objects that nobody has told it of", new_x[:SHOWN], said(model, new_x[:SHOWN])),
    ]
    model.partial_fit(*scenes(NEW, 40, 3), task="second").end_task()
    rows += [
        ("the same, once a person has named forty of each", new_x[:SHOWN], said(model, new_x[:SHOWN])),
        ("and the old ones again", known_x[:SHOWN], said(model, known_x[:SHOWN])),
    ]
    draw(rows, options.out)
    old, new = (model.predict(known_x) == known_y).mean(), (model.predict(new_x) == new_y).mean()
    print(
        f"The camera found {strange:.0%} of the objects it had never met strange, and {alarms:.0%} of those it knew; named forty "
        f"times each, it gets {new:.0%} of the new ones right and {old:.0%} of the old ({before:.0%} before). Drawn in "
        f"{options.out}."
    )


if __name__ == "__main__":
    main()
