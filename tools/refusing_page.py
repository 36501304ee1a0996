"""Write the table of docs/refusing.md from the files that benchmarks/refusing.py left; --check says whether it is up to date."""

import argparse
import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE, RESULTS = ROOT / "docs" / "refusing.md", ROOT / "results" / "refusing"
BEGIN, END = "<!-- figures -->\n", "<!-- end -->"


def table() -> str:
    """A row for each stream and method."""
    groups: dict[tuple[str, str], list[dict]] = {}
    for file in sorted(RESULTS.glob("*.json")):
        record = json.loads(file.read_text("utf-8"))
        groups.setdefault((record["stream"], record["method"]), []).append(record)
    rows = [
        "| stream | method | seeds | accuracy | covered at 80 % | at 90 % | at 95 % | labels at 90 % | AUROC of novelty "
        "| of the probability |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (stream, method), records in sorted(groups.items()):
        last = [record["last"] for record in records]
        covered = [_percent([each[f"coverage {asked}"] for each in last]) for asked in ("0.8", "0.9", "0.95")]
        told = [
            _percent([part[name] for record in records for part in record["after"] if name in part]) for name in NOVELTY
        ]
        size = f"{statistics.fmean(each['labels 0.9'] for each in last):.2f}"
        accuracy = _percent([each["accuracy"] for each in last])
        rows.append(
            "| " + " | ".join([stream, f"`{method}`", str(len(records)), accuracy, *covered, size, *told]) + " |"
        )
    return "\n".join(rows) + "\n"


NOVELTY = ("auroc", "auroc of confidence")


def _percent(values: list[float]) -> str:
    return f"{100 * statistics.fmean(values):.1f}" if values else "–"


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    written = f"{before}{BEGIN}\n{table()}\n{END}{after}"
    if check and written != page:
        sys.exit(f"{PAGE.name} does not follow from {RESULTS}; run {Path(__file__).name}.")
    if not check:
        PAGE.write_text(written, "utf-8")


if __name__ == "__main__":
    main()
