"""docs/results/README.md: all streams at a glance, and the rows of the one table that the site lets readers filter."""

from collections.abc import Sequence
from typing import Any

from tools.pages.charts import heat_map
from tools.pages.markdown import table, template
from tools.pages.records import A, Record, entries, one_a_method, read_records, streams_of

from merlin_cl.report.page.command import command_of
from merlin_cl.report.ranking import Place, ranking
from merlin_cl.report.text import stored_size, stream_title

MAP = "results-all"


def pages() -> dict[str, str]:
    """Return the page and its figure."""
    return written(read_records())


def written(records: list[Record]) -> dict[str, str]:
    """Return the page and the figure that some records make."""
    streams = streams_of(records)
    questions = {stream: one_a_method(question(records, stream)) for stream in streams}
    cells: dict[str, dict[str, float]] = {}
    for stream, places in questions.items():
        for place in places:
            if place.rank is not None and place.row.mean[A] is not None:
                cells.setdefault(place.row.method, {})[stream] = place.row.mean[A]
    known = [stream for stream in streams if any(stream in row for row in cells.values())]
    drawn = heat_map(
        cells, [(stream, stream_title(stream)) for stream in known], "Average incremental accuracy, %", MAP
    )
    rows = [_stream(stream, questions[stream]) for stream in streams]
    text = template("results.md", streams=table(("stream", "ranked in", "methods:", "the best", "MERLIN"), rows))
    return {"docs/results/README.md": text, f"docs/images/{MAP}.svg": drawn}


def question(records: list[Record], stream: str) -> list[Place]:
    """Return the ranked rows of one question: the whole stream rather than part of it, its hardest view, the data MERLIN had."""
    rows = [entry.row for entry in entries([one for one in records if one.result["stream"] == stream])]

    def order(places: list[Place]) -> tuple[bool, bool, bool, int]:
        row, methods = places[0].row, {place.row.method for place in places}
        return not row.stream_changed, row.view != "task-masked", "merlin" in methods, len(methods)

    return max(ranking(rows), key=order, default=[])


def _stream(stream: str, places: Sequence[Place]) -> tuple[str, ...]:
    """Return a stream by who leads; its figures are on its page."""
    ranked = [place for place in places if place.rank is not None]
    merlin = next((place for place in ranked if place.row.method == "merlin"), None)
    return (
        f"[{stream_title(stream)}]({stream}.md)",
        places[0].row.view if places else "–",
        str(len(ranked)),
        f"`{ranked[0].row.method}`" if ranked else "–",
        f"{merlin.rank} of {merlin.competitors}" if merlin else "–",
    )


def rows_to_filter(records: list[Record]) -> list[dict[str, Any]]:
    """Return every row of every stream, as plain values for the site's table."""
    listed = []
    by_row = {id(entry.row): entry for entry in entries(records)}
    streams = streams_of(records)

    def order(places: list[Place]) -> tuple[bool, int, bool]:
        row = places[0].row
        return bool(row.stream_changed), streams.index(row.stream), row.view == "task-masked"

    for places in sorted(ranking([entry.row for entry in by_row.values()]), key=order):
        for place in places:
            row = place.row
            own = {name: value for name, value in row.changed.items() if name not in row.stream_changed}
            listed.append(
                {
                    "stream": row.stream,
                    "title": stream_title(row.stream),
                    "part": bool(row.stream_changed),
                    "view": row.view,
                    "method": row.method,
                    "preset": row.preset,
                    "changed": own,
                    "inference": row.inference,
                    "rank": place.rank,
                    "apart": place.apart,
                    "A": row.mean[A],
                    "std": row.std[A],
                    "final": row.mean["final_accuracy"],
                    "forgetting": row.mean["forgetting"],
                    "seeds": len(row.seeds),
                    "bytes": row.stored_bytes,
                    "kept": stored_size(row.stored_bytes),
                    "cpu": by_row[id(row)].cpu_seconds,
                    "command": command_of(row),
                }
            )
    return listed
