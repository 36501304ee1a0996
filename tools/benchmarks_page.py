"""Write docs/benchmarks.md from the result files under results/.

python tools/benchmarks_page.py            # writes the page
python tools/benchmarks_page.py --check    # says whether the page follows from the files
"""

import json
import sys
from collections import Counter
from pathlib import Path

from merlin_cl.report.page.command import command_of
from merlin_cl.report.ranking import ranking
from merlin_cl.report.summary import Result, Row, summarise
from merlin_cl.report.text import parts, stored_size
from merlin_cl.streams.registry import stream_names

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
INTRODUCTION = """# Benchmarks

This page is written by `python tools/benchmarks_page.py` from the files under `results/`, each of which is what one run found,
with its settings, versions and revision. Nothing here is typed in by hand.

- **A** is the average incremental accuracy (the paper's A): the mean over k of the accuracy on tasks 1..k after task k.
  **final** is the accuracy after the last task, **F** the forgetting. In percent; ± is the standard deviation over seeds (n - 1),
  in brackets the 95 % t-interval for the mean, where there are five seeds.
- **view**: class-incremental (choose among all classes seen), task-masked (among the classes of the example's own task),
  domain-incremental (all tasks share their classes). Compare figures of one view only.
- **inference** `aware` is told the task; `aggregate` and `marginal` are not.
- **updates**: gradient steps on each arriving batch of ten. **stored**: all that is kept between tasks.
- `gdumb-ensemble` is the control: the same exemplars and nothing else of the stream.
- **paper**: its A (five seeds), where it has one for this stream and view.
"""


def page(results: list[Result]) -> str:
    """The page, as Markdown."""
    parts = [INTRODUCTION]
    known = stream_names()
    for stream in sorted({result["stream"] for result in results}, key=known.index):
        rows = summarise(result for result in results if result["stream"] == stream)
        source = Counter(row.source for row in rows).most_common(1)[0][0]
        parts.append(
            "\n".join([f"## {stream}", "", f"Data: {source}.", "", *_table(rows, source), "", *_commands(rows)])
        )
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _table(rows: list[Row], source: str) -> list[str]:
    """A line a row; one with other data than most says so."""
    lines = [
        "| method | view | inference | exemplars | updates | seeds | stored | A | paper | final | F |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in (place.row for places in ranking(rows) for place in places):
        cells = [
            _named(row, source),
            row.view,
            row.inference or "–",
            "–" if row.exemplars is None else str(row.exemplars),
            "–" if row.updates_per_batch is None else str(row.updates_per_batch),
            ", ".join(map(str, row.seeds)),
            stored_size(row.stored_bytes),
            _figure(row, "average_incremental_accuracy") + _interval(row, "average_incremental_accuracy"),
            f"{row.paper.mean:g}" if row.paper else "–",
            *(_figure(row, name) for name in ("final_accuracy", "forgetting")),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _named(row: Row, source: str) -> str:
    apart = [row.preset] if row.preset != "default" else []
    apart += [parts(row.changed)] if row.changed else []
    apart += [row.source] if row.source != source else []
    return f"`{row.method}`" + (f" ({'; '.join(apart)})" if apart else "")


def _figure(row: Row, name: str) -> str:
    middle, deviation = row.mean[name], row.std[name]
    if middle is None:
        return "–"
    return f"{middle:.2f}" if deviation is None else f"{middle:.2f} ± {deviation:.2f}"


def _interval(row: Row, name: str) -> str:
    sure = row.interval(name)
    return "" if sure is None else f" [{sure[0]:.2f}, {sure[1]:.2f}]"


def _commands(rows: list[Row]) -> list[str]:
    """The command of every row, each once; N stands for the seed."""
    return ["```", *dict.fromkeys(map(command_of, rows)), "```"]


def main() -> None:
    """Write or check the page."""
    found = sorted((ROOT / "results").glob("*/*.json"))
    results = [json.loads(file.read_text())["result"] for file in found if file.parent.name in stream_names()]
    written = page(results)
    if "--check" in sys.argv[1:]:
        sys.exit(0 if PAGE.read_text() == written else f"{PAGE.name} does not follow from results/; write it anew.")
    PAGE.write_text(written)
    print(PAGE)


if __name__ == "__main__":
    main()
