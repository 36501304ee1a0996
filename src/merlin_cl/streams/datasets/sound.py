"""Recordings as pictures: the log-mel spectrogram of one second.

A second about the middle of the recording is cut into as many frames as the picture is wide, each weighted by a Hann window
twice as long as the step from frame to frame. The power of each frame up to 4 kHz is summed in as many mel bands as the picture
is high. Decibels below the loudest point of the recording, down to -80, become bytes: 255 is the loudest point, 0 is 80 dB below
it or less. Bytes, because that is how images are kept, and a quarter of the memory: a step is 0.3 dB, far below what is heard.
Frequencies are in hertz, so a recording gives nearly the same picture at 8 and at 48 kHz.
"""

import wave
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from merlin_cl.errors import InputError
from merlin_cl.streams.datasets.dataset import Part

TOP = 4000.0
"""The highest frequency that counts, in hertz."""
RANGE = 80.0
"""Decibels between the loudest point and black."""
SAMPLES: dict[int, np.dtype[Any]] = {1: np.dtype("u1"), 2: np.dtype("<i2"), 4: np.dtype("<i4")}
"""What a sample is, by its width in bytes."""


class SoundFiles(Part):
    """Examples of which each is a wav file."""

    def __init__(self, files: Sequence[Path], labels: Sequence[int]) -> None:
        super().__init__(torch.tensor(labels, dtype=torch.int64))
        self.files = tuple(files)

    def images(self, at: Tensor, shape: tuple[int, ...]) -> Tensor:
        """The spectrograms at the positions `at`; shape is (1, bands, frames)."""
        x = torch.empty(len(at), *shape, dtype=torch.uint8)
        for row, position in zip(x, at.tolist(), strict=True):
            sound, rate = read_wav(self.files[position])
            row[0] = spectrogram(sound, rate, *shape[1:])
        return x


def read_wav(file: Path) -> tuple[Tensor, int]:
    """A recording as float32 [samples] from -1 to 1, channels averaged, and its samples a second."""
    try:
        with wave.open(str(file), "rb") as opened:
            channels, width, rate, count = opened.getparams()[:4]
            content = opened.readframes(count)
    except (OSError, EOFError, wave.Error) as error:
        raise InputError(
            f"{file} cannot be read as a wav file ({error or 'it is cut off'}); fetch it again."
        ) from error
    if width not in SAMPLES:
        raise InputError(f"{file} has samples of {8 * width} bits; convert it to 16 bits.")
    if not count:
        raise InputError(f"{file} holds no sound; fetch it again.")
    if len(content) != count * channels * width:
        held = len(content) // (channels * width)
        raise InputError(f"{file} announces {count:,} samples but holds {held:,}; fetch it again.")
    if rate < 2 * TOP:
        raise InputError(f"{file} has {rate:,} samples a second; at least {2 * TOP:,.0f} are needed.")
    values = np.frombuffer(content, dtype=SAMPLES[width]).astype(np.float32).reshape(count, channels).mean(axis=1)
    return torch.from_numpy((values - 128 * (width == 1)) / 2 ** (8 * width - 1)), rate


def spectrogram(sound: Tensor, rate: int, bands: int, frames: int) -> Tensor:
    """The log-mel spectrogram of the middle second, uint8 [bands, frames], low frequencies first."""
    step = rate // frames
    window, transformed = 2 * step, 4 * step  # padding with zeros makes the frequencies finer than the lowest bands
    second = _middle(sound, step * (frames - 1) + transformed)
    hann = torch.hann_window(window)
    spectrum = torch.stft(second, transformed, step, window, hann, center=False, return_complex=True)
    power = mel_bands(bands, transformed, rate) @ spectrum.abs().square()  # [bands, frequencies] [frequencies, frames]
    decibels = 10 * torch.log10(power.clamp_min(1e-12))
    return (255 * (1 + (decibels - decibels.max()) / RANGE)).clamp(0, 255).round().to(torch.uint8)


@lru_cache(maxsize=8)
def mel_bands(bands: int, transformed: int, rate: int) -> Tensor:
    """How much each frequency counts in each band, [bands, frequencies]: triangles equally wide on the mel scale."""
    frequencies = torch.arange(transformed // 2 + 1) * (rate / transformed)
    mel = 2595 * torch.log10(1 + frequencies / 700)
    edges = torch.linspace(0, 2595 * float(np.log10(1 + TOP / 700)), bands + 2)
    width = edges[1] - edges[0]
    return (1 - (mel - edges[1:-1, None]).abs() / width).clamp_min(0)


def _middle(sound: Tensor, length: int) -> Tensor:
    """So many samples about the middle, silence on both sides where the recording is shorter."""
    if len(sound) >= length:
        start = (len(sound) - length) // 2
        return sound[start : start + length]
    before = (length - len(sound)) // 2
    return torch.nn.functional.pad(sound, (before, length - len(sound) - before))
