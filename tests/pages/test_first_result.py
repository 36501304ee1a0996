"""The README says of the time to a first result what the record of a measurement says, and nothing without one."""

import json

from tools.pages.first_result import time_to_first_result


def test_the_sentence_adds_up_the_steps(tmp_path):
    file = tmp_path / "clone.json"
    assert time_to_first_result(file) == ""
    steps = {
        "git clone": {"cpu": 0.5, "clock": 2.0},
        "installation": {"cpu": 30.0, "clock": 40.0},
        "make demo": {"cpu": 44.0, "clock": 50.0},
        "first accuracy on the screen": {"clock": 9.0},
        "the README's Python": {"cpu": 4.0, "clock": 5.0},
    }
    record = {
        "command": "python tools/first_result.py --clone",
        "steps": steps,
        "cores": 2,
        "load average": [0.4, 1, 2],
    }
    file.write_text(json.dumps(record))
    said = time_to_first_result(file)
    assert "first accuracy on the screen: 51 s (2 s to clone, 40 s to install" in said
    assert "9 s to learn a first task); the whole demonstration: 50 s." in said
    assert "Measured by `python tools/first_result.py --clone` on 2 cores at a load average of 0.4." in said
