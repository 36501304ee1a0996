"""Keep what finished runs found as small files under results/.

    python tools/collect_results.py runs/* [--into results]

One file a run, named after its folder: the result, the versions, machine and revision that gave it, and the day.
"""

import argparse
import json
from pathlib import Path
from typing import Any


def main() -> None:
    """Collect the runs named on the command line; those that are not finished are passed over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--into", type=Path, default=Path("results"))
    options = parser.parse_args()
    for run in options.runs:
        if not (run / "result.json").exists():
            continue
        result = json.loads((run / "result.json").read_text())
        record = {
            "result": rounded(result)
            | {"settings": result["settings"]},  # settings are what was typed, to the last digit
            "environment": json.loads((run / "env.json").read_text()),
            "date": finished_on(run),
        }
        target = options.into / record["result"]["stream"] / f"{run.name}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(record, separators=(",", ":")) + "\n")
        print(target)


def finished_on(run: Path) -> str | None:
    """The day on which a run was finished, as its log says; None where it has none."""
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines() if line.startswith("{")]
    return next((event["time"][:10] for event in reversed(events) if event["event"] == "finished"), None)


def rounded(value: Any) -> Any:
    """The same record with four decimals: a thousandth of a percent is beyond what any seed decides."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return value


if __name__ == "__main__":
    main()
