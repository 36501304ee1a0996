"""README.md: its figure, its rows and its sentences, from the result files."""

from tools.pages.charts import dot_plot
from tools.pages.choose import leaders
from tools.pages.first_result import time_to_first_result
from tools.pages.markdown import filled, table
from tools.pages.records import A, Record, one_a_method, read_records
from tools.pages.results import question

from merlin_cl.report.ranking import Place, sentence
from merlin_cl.report.text import NONE, stream_title

STREAMS = ("split-mnist", "permuted-mnist", "split-cifar10", "split-cifar100")
FIRST = STREAMS[0]
MOST = 9
"""Methods in the figure."""
NO_RIVALS = ("merlin", "gdumb-ensemble", "lookup", "merlin-paper")
"""What is no rival: ours, its controls, and the recipe it departs from."""


def pages() -> dict[str, str]:
    """Return the README and its figure."""
    records = read_records()
    places = {stream: one_a_method(question(records, stream)) for stream in STREAMS}
    title = ", ".join([stream_title(FIRST), *(place.row.view for place in places[FIRST][:1])])
    parts = {
        "results": rows(places),
        "ranking": f"{ranked(places[FIRST], records)}\n\n{leaders()}".rstrip(),
        "first result": time_to_first_result(),
    }
    return {
        "README.md": filled("README.md", parts),
        "docs/images/results.svg": dot_plot(places[FIRST], title, "results", MOST, width=480),
    }


def rows(places: dict[str, list[Place]]) -> str:
    """Return a row a stream: MERLIN and the best rival."""
    return table(("stream", "`merlin`:", "best rival:"), [_row(*one) for one in places.items()])


def ranked(places: list[Place], records: list[Record]) -> str:
    """Say who leads, and how many runs there are."""
    told = sentence(places, lambda row: f"`{row.method}`")
    return f"{stream_title(FIRST)}, ranked: {told}. {len(records)} runs in all, each a file under `results/`."


def _row(stream: str, places: list[Place]) -> tuple[str, ...]:
    ranked = {place.row.method: place for place in places if place.rank is not None}
    rival = next((place for method, place in ranked.items() if method not in NO_RIVALS), None)
    return (
        f"[{stream_title(stream)}](docs/results/{stream}.md)",
        _figure(ranked.get("merlin")),
        f"{_figure(rival)} `{rival.row.method}`" if rival else NONE,
    )


def _figure(place: Place | None) -> str:
    return NONE if place is None or place.row.mean[A] is None else f"{place.row.mean[A]:.1f}"
