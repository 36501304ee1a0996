"""Colours of series: told apart by every eye, and from what they are drawn on."""

import itertools
import re
from importlib.resources import files

import numpy as np
import pytest

STYLE = files("merlin_cl.report.page").joinpath("assets/style/tokens.css").read_text()
# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
EYES = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
JUST_NOTICEABLE = 2.3


def colours(name):
    """The light and the dark value of a colour, as linear RGB."""
    pair = re.search(rf"--{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", STYLE)
    return [linear(np.array([int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)])) for text in pair.groups()]


def linear(rgb):
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x, y, z = TO_XYZ @ rgb / [0.9505, 1.0, 1.089]
    x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in (x, y, z))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(first, second):
    low, high = sorted(float(TO_XYZ[1] @ rgb) for rgb in (first, second))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("eye", EYES)
def test_any_two_series_can_be_told_apart(eye, theme):
    seen = [lab(np.clip(EYES[eye] @ colours(f"series-{slot}")[theme], 0, 1)) for slot in range(8)]
    nearest = min(np.linalg.norm(first - second) for first, second in itertools.combinations(seen, 2))
    assert nearest > 6 * JUST_NOTICEABLE


@pytest.mark.parametrize("theme", [0, 1])
def test_series_stand_out_from_the_surface(theme):
    surface = colours("surface")[theme]
    assert min(contrast(colours(f"series-{slot}")[theme], surface) for slot in range(8)) >= 3


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("ground", ["page", "surface", "raised"])
def test_names_in_the_colours_of_series_can_be_read(ground, theme):
    assert min(contrast(colours(f"name-{slot}")[theme], colours(ground)[theme]) for slot in range(8)) >= 4.5


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("ink", ["ink", "muted", "accent", "good", "mixed", "bad"])
@pytest.mark.parametrize("ground", ["page", "surface", "raised"])
def test_text_can_be_read(ink, ground, theme):
    assert contrast(colours(ink)[theme], colours(ground)[theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("tone", ["good", "mixed", "bad"])
def test_verdicts_can_be_read(tone, theme):
    for ink in (tone, "ink"):
        assert contrast(colours(ink)[theme], colours(f"{tone}-soft")[theme]) >= 4.5
