"""The tables of docs/paper.md set the right numbers beside each other."""

import json

from tools.pages import paper as tool
from tools.pages.paper_figures import as_svg, decoder_figure, models_figure


def record(seed, accuracy, tasks=2):
    """What `experiments/recipe.py` writes, the same for every task but the errors."""
    kinds = dict.fromkeys(("decoded", "sampled", "untrained", "rescaled", "fresh"), accuracy)
    return {
        "stream": "split-mnist",
        "seed": seed,
        "settings": {"reading": "text"},
        "tasks": [
            {
                "accuracy": kinds | {"decoded": 10.0},
                "own_task": {"sampled_ensemble": 50.0, "base_ensemble": 99.0, "chance": 50.0},
                "relative_error": {"reconstructed": 1.0 + task, "sampled": 2.0 + task},
                "size": {"decoded": 0.008, "base": 0.025, "fresh": 0.021},
            }
            for task in range(tasks)
        ],
    }


def test_tables_have_means_over_seeds():
    groups = {("split-mnist", "text"): [record(0, 80.0), record(1, 90.0)]}
    decoder = tool.decoder(groups)
    assert "| Split MNIST, text | 2 | 1.00 to 2.00 | 2.00 to 3.00 | 0.008 / 0.025 / 0.021 | 50.0 ± 0.0 |" in decoder
    assert "| 10.0 ± 0.0 | 85.0 ± 7.1 | 85.0 ± 7.1 |" in tool.models(groups)
    assert "| 90.7 ± 0.8 |" in tool.models(groups)
    # two seeds are too few for a p-value
    assert "| Split MNIST, text | fresh networks | +0.00 | – |" in tool.models(groups)
    assert tool.decoder({}) == tool.models({}) == tool.ablations([]) == tool.NOTHING


def test_an_ablation_stands_beside_the_paper_s():
    from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
    from merlin_cl.streams.settings import SplitMnistSettings

    def result(**settings):
        method = {"name": "merlin-paper", **MerlinPaperSettings(**settings).record(), "hidden_units": [100, 100]}
        score = {"view": "class-incremental", "inference": "aggregate", "average_incremental_accuracy": 88.0}
        stream = {"name": "split-mnist", **SplitMnistSettings().record()}
        return {"settings": {"stream": stream, "method": method}, "seed": 0, "scores": [score]}

    table = tool.ablations([result(vae="untrained"), result(models=100), result(latent=7)])
    assert "| Table 2 | Split MNIST | without training the VAE | 44.8 ± 5.7 | 88.0 | 1 | +43.20 | exceeded |" in table
    assert "| Table 3 | Split MNIST | E = 100 | 91.6 ± 0.3 | 88.0 | 1 | -3.60 | not reached |" in table
    assert len(table.splitlines()) == 2 + 2  # what the paper did not try stands beside nothing


def test_figures_are_the_same_text_for_the_same_numbers():
    groups = {("split-mnist", "text"): [record(0, 80.0), record(1, 90.0)]}
    for figure in (decoder_figure, lambda groups: models_figure(groups, tool.KINDS)):
        assert as_svg(figure(groups), "figure") == as_svg(figure(groups), "figure")


def test_streams_stand_in_the_paper_s_order_and_its_text_before_its_code(tmp_path):
    for stream in ("permuted-mnist", "split-mnist"):
        for reading in ("code", "text"):
            written = record(0, 80.0) | {"stream": stream, "settings": {"reading": reading}}
            (tmp_path / f"{stream}-{reading}.json").write_text(json.dumps(written))
    streams = [(stream, reading) for stream in ("split-mnist", "permuted-mnist") for reading in ("text", "code")]
    assert list(tool.recipes(tmp_path)) == streams
