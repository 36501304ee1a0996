"""All of the page on neighbours runs where they are installed."""

import pytest

from docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "integrations.md"


@pytest.mark.usefixtures("avalanche_library", "continuum_library", "their_warnings")
def test_every_block_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    known = {"__name__": "__page__"}
    for block in blocks(PAGE.read_text("utf-8")):
        if block.python:
            exec(compile("\n" * (block.line - 1) + block.code, PAGE.name, "exec"), known)
    accuracies = [float(line) for line in capsys.readouterr().out.splitlines() if line.startswith(("0.", "1."))]
    assert len(accuracies) == 5
    assert accuracies[-1] > 0.6
