"""Write docs/rivals.md: all methods on the MNIST streams, the paper's and Avalanche's beside ours, where settings come from.

All figures come from files: results/*/*.json, results/parity/*.json and the searches that ship with the package.

python tools/rivals_page.py            # writes the page
python tools/rivals_page.py --check    # says whether the page follows from the files
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from merlin_cl.learners.registry import BUILT_IN
from merlin_cl.learners.tuned import search_record
from merlin_cl.metrics import mean, standard_deviation
from merlin_cl.paper.published import Published, published
from merlin_cl.report.means import unequal_means
from merlin_cl.report.page.command import command_of
from merlin_cl.report.summary import Result, Row, experiment_of, summarise
from merlin_cl.report.text import NONE, parts, stored_size

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "rivals.md"
TEXT = ROOT / "tools" / "rivals_page"
STREAMS = ("split-mnist", "permuted-mnist")
PAPERS = ("single", "ewc", "gem", "icarl", "gss")
"""The rivals of the paper's main table."""
APART = 3.0
"""Points of difference from the paper from which the page has to say why."""
Figures = dict[str, Any]


def page(results: list[Result], parity: list[Figures], reasons: dict[str, str]) -> str:
    """The page, as Markdown."""
    chapters = [(TEXT / "introduction.md").read_text("utf-8")]
    for stream in STREAMS:
        own = _of_one_source([result for result in results if result["stream"] == stream])
        if own:
            chapters.append(_stream(stream, own))
    chapters += [_paper(results, reasons), _parity(parity), _settings()]
    return "\n\n".join(chapter.strip("\n") for chapter in chapters) + "\n"


def _of_one_source(results: list[Result]) -> list[Result]:
    """Where an experiment was made several times (on all of MNIST and on its first images, say, or before a setting was added):
    the one with most seeds, and of those the one on the data that most were made on."""
    common = Counter(result["source"] for result in results)
    made: dict[str, list[Result]] = {}
    for result in results:
        made.setdefault(experiment_of(result), []).append(result)
    best: dict[str, list[Result]] = {}
    for group in made.values():
        first = summarise(group)[0]
        key = json.dumps([first.method, first.preset, first.changed])
        best[key] = max(
            best.get(key, []), group, key=lambda group: (len(group), common[group[0]["source"]] if group else 0)
        )
    return [result for group in best.values() for result in group]


# One stream


def _stream(stream: str, results: list[Result]) -> str:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(experiment_of(result), []).append(result)
    entries = [(row, mean(_seconds(group))) for group in groups.values() for row in summarise(group)]
    sources = [source for source, _ in Counter(row.source for row, _ in entries).most_common()]
    lines = [f"## {stream}", "", *(f"Data{_mark(number)}: {source}." for number, source in enumerate(sources)), ""]
    for view in dict.fromkeys(row.view for row, _ in entries):
        lines += [
            f"### {stream}, {view}",
            "",
            *_table([entry for entry in entries if entry[0].view == view], sources),
            "",
        ]
    lines += [sentence[0].upper() + sentence[1:] + "\n" for sentence in unequal_means(row for row, _ in entries)]
    lines += [
        f"All {len(results)} runs of this stream together took {sum(_seconds(results)) / 60:.1f} CPU-minutes, starting processes "
        "and loading data not counted.",
        "",
        *_commands([row for row, _ in entries]),
    ]
    return "\n".join(lines)


def _seconds(results: list[Result]) -> list[float]:
    """CPU seconds of each run, learning and scoring."""
    return [sum(result["cost"]["cpu_seconds"].values()) for result in results]


def _mark(number: int) -> str:
    return "¹²³"[number - 1] if number else ""


def _table(entries: list[tuple[Row, float]], sources: list[str]) -> list[str]:
    lines = [
        "| method | inference | updates | seeds | A | final | F | CPU s a run | stored |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row, seconds in sorted(entries, key=lambda entry: -(entry[0].mean["average_incremental_accuracy"] or 0)):
        name = f"`{row.method}`" + (f" ({row.preset})" if row.preset != "default" else "")
        cells = [
            name + (f" {parts(row.changed)}" if row.changed else "") + _mark(sources.index(row.source)),
            row.inference or NONE,
            str(row.updates_per_batch or NONE),
            str(len(row.seeds)),
            *(_figure(row, metric) for metric in ("average_incremental_accuracy", "final_accuracy", "forgetting")),
            f"{seconds:.1f}",
            stored_size(row.stored_bytes),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _figure(row: Row, metric: str) -> str:
    middle, deviation = row.mean[metric], row.std[metric]
    if middle is None:
        return NONE
    return f"{middle:.2f}" if deviation is None else f"{middle:.2f} ± {deviation:.2f}"


def _commands(rows: list[Row]) -> list[str]:
    """The command of every row, each once; N stands for the seed."""
    return ["```", *dict.fromkeys(map(command_of, rows)), "```"]


# The paper's rivals


def _paper(results: list[Result], reasons: dict[str, str]) -> str:
    lines = [(TEXT / "paper.md").read_text("utf-8").rstrip("\n"), ""]
    lines += ["| stream | method | | A | paper | F | paper | |", "|---|---|---|---|---|---|---|---|"]
    for stream in STREAMS:
        rows = summarise(_of_one_source([result for result in results if result["stream"] == stream]))
        for method in PAPERS:
            told = published("main", method, stream, "A")
            own = [row for row in rows if row.method == method and row.view != "task-masked"]
            if told is None:
                continue
            for row in own:
                lines.append(_beside_paper(row, told, published("main", method, stream, "F"), reasons))
    return "\n".join(lines)


def _beside_paper(row: Row, accuracy: Published, forgetting: Published | None, reasons: dict[str, str]) -> str:
    difference = (row.mean["average_incremental_accuracy"] or 0.0) - accuracy.mean
    told = {name: value for name, value in row.changed.items() if name not in row.means}
    form = " ".join([row.stream, row.method, parts(told)]).rstrip()  # a form of a method may have a reason of its own
    known = reasons.get(form, reasons.get(f"{row.stream} {row.method}", "**not explained**"))
    reason = known if abs(difference) > APART else ""
    cells = [
        row.stream,
        f"`{row.method}`",
        parts(row.changed) if row.changed else "",
        _figure(row, "average_incremental_accuracy"),
        f"{accuracy.mean:g}",
        _figure(row, "forgetting"),
        NONE if forgetting is None else f"{forgetting.mean:g}",
        f"{difference:+.1f}: {reason}" if reason else f"{difference:+.1f}",
    ]
    return f"| {' | '.join(cells)} |"


# Avalanche


def _parity(parity: list[Figures]) -> str:
    lines = [(TEXT / "parity.md").read_text("utf-8").rstrip("\n"), ""]
    if not parity:
        return "\n".join([*lines, "Not measured yet."])
    lines += [
        "| method | seeds | final, ours | theirs | difference | ms an example, ours | theirs | ratio | by task: final | ms |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for record in sorted(parity, key=lambda record: list(BUILT_IN).index(record["method"])):
        lines.append(f"| {' | '.join(_parity_cells(record))} |")
    versions = " and ".join(dict.fromkeys(parts(record["versions"]) for record in parity))
    revisions = ", ".join(dict.fromkeys(record["revision"][:9] for record in parity))
    lines += ["", f"{versions}; revision {revisions}. Data: {parity[0]['source']}."]
    return "\n".join(lines)


def _parity_cells(record: Figures) -> list[str]:
    def of(side: str, figure: str) -> list[float]:
        return [run[side][figure] for run in record["runs"]]

    def accuracy(side: str) -> str:
        values = of(side, "final_accuracy")
        deviation = standard_deviation(values)
        return f"{mean(values):.1f}" + ("" if deviation is None else f" ± {deviation:.1f}")

    accuracies = [mean(of(side, "final_accuracy")) for side in ("ours", "theirs")]
    times = [mean(of(side, "milliseconds_per_example")) for side in ("ours", "theirs")]
    by_task = "theirs_by_task" in record["runs"][0]
    return [
        f"`{record['method']}`",
        str(len(record["runs"])),
        accuracy("ours"),
        accuracy("theirs"),
        f"{accuracies[0] - accuracies[1]:+.1f}",
        f"{times[0]:.2f}",
        f"{times[1]:.2f}",
        f"{times[0] / times[1]:.2f}",
        accuracy("theirs_by_task") if by_task else NONE,
        f"{mean(of('theirs_by_task', 'milliseconds_per_example')):.2f}" if by_task else NONE,
    ]


# Settings


def _settings() -> str:
    lines = [(TEXT / "settings.md").read_text("utf-8").rstrip("\n"), ""]
    lines += [
        "| stream | method | chosen | held-out A | with the defaults | trials |",
        "|---|---|---|---|---|---|",
    ]
    searched: dict[str, list[str]] = {}
    for stream in STREAMS:
        for method in BUILT_IN:
            record = search_record(method, stream)
            if record is None:
                continue
            searched.setdefault(method, []).append(stream)
            before = record["value_before"]
            cells = [
                stream,
                f"`{method}`",
                parts(record["settings"]),
                f"{record['value']:.2f}",
                NONE if before is None else f"{before:.2f}",
                str(len(record["trials"])),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    origins = json.loads((TEXT / "defaults.json").read_text("utf-8"))
    lines += [
        "",
        "Where a method has no search, its own defaults hold, and where these come from is said here for all:",
        "",
        "| method | searched on | its own defaults |",
        "|---|---|---|",
        *(f"| `{method}` | {', '.join(searched.get(method, [])) or NONE} | {origins[method]} |" for method in BUILT_IN),
    ]
    return "\n".join(lines)


def main() -> None:
    """Write or check the page."""
    results = [
        json.loads(file.read_text())["result"]
        for stream in STREAMS
        for file in sorted((ROOT / "results" / stream).glob("*.json"))
    ]
    parity = [json.loads(file.read_text()) for file in sorted((ROOT / "results" / "parity").glob("*.json"))]
    reasons = json.loads((TEXT / "reasons.json").read_text("utf-8"))
    written = page(results, parity, reasons)
    if "--check" in sys.argv[1:]:
        sys.exit(
            0 if PAGE.is_file() and PAGE.read_text() == written else f"{PAGE.name} does not follow; write it anew."
        )
    PAGE.write_text(written)
    print(PAGE)


if __name__ == "__main__":
    main()
