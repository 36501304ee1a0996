"""Write RESULTS.md, the scoreboard, and docs/results/, a page a stream, from the result files under results/.

python tools/results_page.py            # writes the pages
python tools/results_page.py --check    # says whether the pages follow from the files
"""

import sys
import tomllib
from pathlib import Path

from stream_results import A, Asked, Record, asked, changed_stream, paper_of, read_records, stream_pages, table

from merlin_cl.paper.experiment import experiment, view_for
from merlin_cl.paper.published import Published, headline, published
from merlin_cl.paper.verdict import verdict
from merlin_cl.report.summary import Row, summarise
from merlin_cl.report.text import NONE

ROOT = Path(__file__).resolve().parent.parent
PAGE, FOLDER, REASONS = ROOT / "RESULTS.md", ROOT / "docs" / "results", ROOT / "results" / "reasons.toml"
STREAMS = experiment("main").streams
FURTHER = (*experiment("20-tasks").streams, *experiment("additional").streams)
RIVALS = ("single", "ewc", "gem", "icarl", "gss", "cn-dpm")
SIGNS = {"reproduced": "=", "exceeded": "+", "not reached": "−", "not run": "not run"}
INTRODUCTION = """# Scoreboard

What became of the paper's figures: average incremental accuracy (A, %), ± the standard deviation over seeds, in brackets how
many. A figure is *reproduced* (=) where ours is no further from the paper's than the paper's ± or half of our 95 % interval,
whichever is more; above that it is *exceeded* (+), below *not reached* (−). † marks fewer tasks, images or data sets than the
paper's.
Written by `python tools/results_page.py` from the files under `results/`: every stream has [a page with all rows and
reasons](docs/results/README.md), and [what came of the recipe](docs/paper.md) has the ablations.

## MERLIN

The recipe as the paper prints it (`merlin-paper`), our own MERLIN (`merlin`), and the latter's control (`gdumb-ensemble`), which
learns from exemplars alone: chosen and augmented as our MERLIN has them, where the recipe's are random and as they came.
Told the task, models choose among its classes."""
RIVALRY = """## Its rivals

Ours / the paper's. All of ours learn MERLIN's small network. On CIFAR and mini-ImageNet the paper's learn a larger one; in square
brackets is what the paper has with the small one."""
MERLIN = ("stream", "paper", "recipe as printed", "mark", "our MERLIN", "exemplars alone")


def scoreboard(records: list[Record]) -> str:
    """RESULTS.md."""
    rows = summarise(record.result for record in records)
    parts = [INTRODUCTION, table(MERLIN, [_merlin(one, rows) for one in _recipe()]), RIVALRY]
    for streams, methods in ((STREAMS, RIVALS), (FURTHER, RIVALS[:-1])):
        lines = [(f"`{method}`", *(_rival(method, stream, rows) for stream in streams)) for method in methods]
        parts.append(table(("method", *streams), lines))
    return "\n\n".join(parts) + "\n"


def index(pages: dict[str, str]) -> str:
    """The list of the streams' pages."""
    told = (
        "Written by `python tools/results_page.py`; the [scoreboard](../../RESULTS.md) has the paper's figures alone."
    )
    listed = "\n".join(f"- [{stream}]({stream}.md)" for stream in pages)
    return f"# Results, stream by stream\n\n{told}\n\n{listed}\n"


def _recipe() -> list[Asked]:
    """The paper's figures for MERLIN: first those without the task, then those with it."""
    found = [one for one in asked() if one.method == "merlin-paper"]
    return sorted(found, key=lambda one: one.inference == "aware")


def _merlin(one: Asked, rows: list[Row]) -> tuple[str, ...]:
    told, row = one.inference == "aware", row_of(rows, one.stream, "merlin-paper", one.inference)
    ours = row_of(rows, one.stream, "merlin", "aware" if told else "marginal")
    control = row_of(rows, one.stream, "gdumb-ensemble", None, view_for(one.stream, one.inference))
    name = f"[{one.stream}](docs/results/{one.stream}.md){', told the task' if told else ''}"
    return (name, _published(one.paper), _shown(row), _mark(row, one.paper), _shown(ours), _shown(control))


def _rival(method: str, stream: str, rows: list[Row]) -> str:
    paper = headline(method, stream, view_for(stream, None), None)
    if paper is None:
        return NONE
    row = row_of(rows, stream, method, None)
    small = published("small-backbone", method, stream, "A", backbone="small-resnet")
    theirs = f"{paper.mean:g}" + ("" if small is None else f" [{small.mean:g}]")
    return f"{_shown(row)} / {theirs} {SIGNS[_mark(row, paper)]}"


def row_of(rows: list[Row], stream: str, method: str, inference: str | None, view: str | None = None) -> Row | None:
    """The row of a method as it is by default, or as near to that as there is: fewest settings changed, then most seeds."""
    view = view or view_for(stream, inference)
    found = [
        row
        for row in rows
        if (row.stream, row.method, row.inference, row.view) == (stream, method, inference, view)
        and (headline(method, stream, view, inference) is None or paper_of(row) is not None)
    ]
    return min(found, key=lambda row: (len(row.changed), -len(row.seeds)), default=None)


def _shown(row: Row | None) -> str:
    if row is None:
        return NONE
    deviation = "" if row.std[A] is None else f" ± {row.std[A]:.1f}"
    return f"{row.mean[A]:.1f}{deviation} ({len(row.seeds)}){'†' if changed_stream(row) else ''}"


def _published(paper: Published) -> str:
    return f"{paper.mean:g}" + ("" if paper.std is None else f" ± {paper.std:g}")


def _mark(row: Row | None, paper: Published) -> str:
    if row is None or row.mean[A] is None:
        return "not run"
    beside = paper_of(row) or paper
    return verdict(row.mean[A], row.half_width[A], beside)


def main() -> None:
    """Write or check the pages."""
    records = read_records(ROOT / "results")
    pages = stream_pages(records, tomllib.loads(REASONS.read_text("utf-8")) if REASONS.exists() else {})
    written = {PAGE: scoreboard(records), FOLDER / "README.md": index(pages)}
    written |= {FOLDER / f"{stream}.md": text for stream, text in pages.items()}
    if "--check" in sys.argv[1:]:
        stale = [path.name for path, text in written.items() if not path.exists() or path.read_text("utf-8") != text]
        sys.exit(f"{', '.join(stale)} do not follow from results/; write them anew." if stale else 0)
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
