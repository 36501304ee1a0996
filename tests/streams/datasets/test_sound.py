"""Spectrograms show which frequency sounds when, whatever the rate and loudness; wav files that cannot be read are named."""

import numpy as np
import pytest
import torch

from merlin_cl.errors import InputError
from merlin_cl.streams.datasets import open_data_set
from merlin_cl.streams.datasets.audio_mnist import TEST_SPEAKERS
from merlin_cl.streams.datasets.sound import mel_bands, read_wav, spectrogram
from streams.official import write_audio_mnist, write_wav


def tone(pitch, rate=8000, seconds=1.2):
    return torch.sin(2 * torch.pi * pitch * torch.arange(int(rate * seconds)) / rate)


def band_of(pitch, bands=32):
    """Where on a mel scale up to 4 kHz a frequency lies."""
    return np.log10(1 + pitch / 700) / np.log10(1 + 4000 / 700) * (bands + 1) - 1


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
@pytest.mark.parametrize("pitch", [200, 440, 1000, 3000])
def test_a_tone_is_a_line_in_its_band(pitch, rate):
    picture = spectrogram(tone(pitch, rate), rate, 32, 32)
    assert picture.shape == (32, 32)
    assert picture.dtype == torch.uint8
    assert picture.float().argmax(dim=0).sub(band_of(pitch)).abs().max() <= 1
    assert picture.max() == 255


def test_a_picture_hardly_depends_on_the_sampling_rate():
    for pitch in (300, 1200):
        slow, fast = (spectrogram(tone(pitch, rate), rate, 32, 32).float() for rate in (8000, 48000))
        loud = (slow > 150) | (fast > 150)
        assert (slow - fast)[loud].abs().mean() < 5


def test_loudness_does_not_matter():
    sound = tone(700) * torch.linspace(0.2, 1, 9600)
    assert spectrogram(sound, 8000, 32, 32).equal(spectrogram(sound / 16, 8000, 32, 32))


def test_a_short_sound_is_in_the_middle_with_silence_about_it():
    picture = spectrogram(tone(1000, seconds=0.25), 8000, 32, 32)
    loud = picture.amax(dim=0) > 128
    assert loud[13:19].all()
    assert not loud[:10].any()
    assert not loud[-10:].any()


def test_twenty_decibels_are_a_quarter_of_the_range():
    sound = torch.cat([tone(1000, seconds=0.5), 0.1 * tone(1000, seconds=0.5)])
    picture = spectrogram(sound, 8000, 32, 32).amax(dim=0).float()
    assert abs(picture[8] - picture[-8] - 255 / 4) < 2


def test_silence_is_one_colour_and_no_error():
    assert spectrogram(torch.zeros(8000), 8000, 32, 32).unique().numel() == 1


@pytest.mark.parametrize("bands", [16, 32, 64])
def test_every_band_hears_something_and_bands_share_all(bands):
    weights = mel_bands(bands, 4 * (8000 // bands), 8000)
    assert (weights.sum(dim=1) > 0).all()
    inner = weights.sum(dim=0)[torch.arange(weights.shape[1]) * bands / 4 > 200]
    assert inner[: len(inner) // 2].sub(1).abs().max() < 1e-4


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("channels", [1, 2])
def test_wav_files_of_usual_kinds_are_read(tmp_path, width, channels):
    sound = np.sin(np.linspace(0, 50, 500)) / 2
    read, rate = read_wav(write_wav(tmp_path / "a.wav", sound, 16000, channels, width))
    assert rate == 16000
    assert np.abs(read.numpy() - sound).max() < (0.02 if width == 1 else 1e-3)


def test_unreadable_wav_files_are_named(tmp_path):
    good = write_wav(tmp_path / "good.wav", np.zeros(1000)).read_bytes()
    file = tmp_path / "broken.wav"
    for content in (b"", b"ID3 an mp3", good[:30], good[:-500]):
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"broken\.wav .*fetch it again"):
            read_wav(file)
    with pytest.raises(InputError, match=r"none\.wav holds no sound"):
        read_wav(write_wav(tmp_path / "none.wav", np.zeros(0)))
    with pytest.raises(InputError, match=r"slow\.wav has 4,000 samples a second; at least 8,000"):
        read_wav(write_wav(tmp_path / "slow.wav", np.zeros(10), rate=4000))
    with pytest.raises(InputError, match=r"lost\.wav cannot be read"):
        read_wav(tmp_path / "lost.wav")


def test_no_speaker_is_in_both_parts(tmp_path):
    write_audio_mnist(tmp_path, speakers=(1, 5, 26, 60, 59))
    source = open_data_set("audiomnist", tmp_path)
    speakers = {part: {int(file.parent.name) for file in source.read(part).files} for part in ("train", "test")}
    assert speakers == {"train": {1, 59}, "test": {5, 26, 60}}
    assert len(TEST_SPEAKERS) == 12


def test_a_file_with_another_name_is_named(tmp_path):
    place = write_audio_mnist(tmp_path)
    write_wav(place / "01" / "ten_01_0.wav", np.zeros(100))
    with pytest.raises(InputError, match=r"ten_01_0\.wav is not named"):
        open_data_set("audiomnist", tmp_path).read("train")
