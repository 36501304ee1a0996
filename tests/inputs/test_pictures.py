"""Images of all kinds are brought to one form, and a file that cannot be read is named."""

import numpy as np
import pytest
import torch
from PIL import Image

from merlin_cl.errors import InputError
from merlin_cl.inputs.pictures import decoded, images_in
from merlin_cl.streams.datasets.dataset import LoadedPart, fitted
from merlin_cl.streams.datasets.picture_files import PictureFiles
from streams.official import noise


def test_pixels_come_out_as_they_were_put_in(tmp_path):
    pixels = noise(9, 7, 3)
    for suffix in (".png", ".ppm", ".bmp", ".tif"):
        Image.fromarray(pixels).save(tmp_path / f"image{suffix}")
        assert (decoded(tmp_path / f"image{suffix}", 3, (7, 9)) == pixels).all()


def test_images_keep_their_order_and_labels(tmp_path):
    files = []
    for number in range(40):
        files.append(tmp_path / f"{number}.png")
        Image.fromarray(noise(6, 6, 3, seed=number)).save(files[-1])
    part = PictureFiles(files, list(range(40)))
    at = torch.tensor([30, 2, 2, 17])
    x = part.images(at, (3, 6, 6))
    assert x.is_contiguous()
    for image, position in zip(x, at.tolist(), strict=True):
        assert (image.numpy() == noise(6, 6, 3, seed=position).transpose(2, 0, 1)).all()


@pytest.mark.parametrize("mode", ["L", "1", "P", "RGBA", "LA", "CMYK"])
def test_grey_and_other_images_among_colour_ones_are_converted(tmp_path, mode):
    colour = Image.fromarray(noise(8, 8, 3)).convert(mode)
    colour.save(tmp_path / ("image.tif" if mode == "CMYK" else "image.png"))
    file = next(iter(images_in(tmp_path)))
    pixels = decoded(file, 3, (8, 8))
    assert (pixels == np.asarray(colour.convert("RGB"))).all()
    if mode in ("L", "1", "LA"):
        assert (pixels[..., :1] == pixels).all()


def test_colour_images_can_be_made_grey(tmp_path):
    Image.fromarray(noise(8, 8, 3)).save(tmp_path / "image.png")
    assert decoded(tmp_path / "image.png", 1, (8, 8)).shape == (8, 8, 1)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".ppm"])
def test_unreadable_images_are_named(tmp_path, suffix):
    good, file = tmp_path / f"good{suffix}", tmp_path / f"broken{suffix}"
    Image.fromarray(noise(40, 40, 3)).save(good)
    for content in (b"", b"<html>", good.read_bytes()[:100], good.read_bytes()[:-200]):
        file.write_bytes(content)
        with pytest.raises(InputError, match=rf"broken\{suffix} cannot be read as an image \(.*\); replace it"):
            PictureFiles([good, file, good], [0, 0, 0]).images(torch.arange(3), (3, 40, 40))
    with pytest.raises(InputError, match=r"lost\.png cannot be read"):
        decoded(tmp_path / "lost.png", 3, (8, 8))


def test_only_images_are_listed_by_name(tmp_path):
    for name in ("b.JPG", "a.png", "Thumbs.db", ".hidden.png", "notes.txt"):
        (tmp_path / name).touch()
    assert [file.name for file in images_in(tmp_path)] == ["a.png", "b.JPG"]


def test_fitting_repeats_grey_in_every_channel_and_resizes():
    grey = torch.arange(2 * 16 * 16).reshape(2, 1, 16, 16).to(torch.uint8)
    colour = fitted(grey, (3, 16, 16))
    assert all(colour[:, channel].equal(grey[:, 0]) for channel in range(3))
    assert fitted(torch.full((3, 1, 28, 28), 77, dtype=torch.uint8), (3, 32, 32)).eq(77).all()


def test_a_part_taken_whole_is_not_copied():
    x = torch.zeros(5, 1, 4, 4, dtype=torch.uint8)
    part = LoadedPart(x, torch.zeros(5, dtype=torch.int64))
    assert part.images(torch.arange(5), (1, 4, 4)).data_ptr() == x.data_ptr()
    assert len(part.images(torch.tensor([1, 3]), (1, 4, 4))) == 2
