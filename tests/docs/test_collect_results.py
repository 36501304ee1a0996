"""What is kept of a run has its settings to the last digit."""

import json
import runpy
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "collect_results.py"


def test_figures_are_rounded_and_settings_are_not(tmp_path, monkeypatch, capsys):
    run = tmp_path / "run"
    run.mkdir()
    settings = {"method": {"learning_rate": 0.000361}}
    (run / "result.json").write_text(json.dumps({"stream": "s", "settings": settings, "scores": [12.3456789]}))
    (run / "env.json").write_text("{}")
    (run / "events.jsonl").write_text('{"time": "2026-01-02T03:04:05+00:00", "event": "finished"}\n')
    monkeypatch.setattr(sys, "argv", ["collect_results.py", str(run), "--into", str(tmp_path / "results")])
    runpy.run_path(str(TOOL), run_name="__main__")
    kept = json.loads(Path(capsys.readouterr().out.strip()).read_text())
    assert kept["result"] == {"stream": "s", "settings": settings, "scores": [12.3457]}
