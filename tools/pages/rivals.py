"""docs/rivals.md: how rivals are compared, and where the settings of every method come from."""

import json
from pathlib import Path

from tools.pages.markdown import table, template

from merlin_cl.learners.registry import BUILT_IN
from merlin_cl.learners.tuned import search_record
from merlin_cl.report.text import NONE, parts
from merlin_cl.streams.registry import stream_names

ORIGINS = Path(__file__).parent / "defaults.json"
SEARCHES = ("stream", "method", "chosen", "held-out A:", "with the defaults:", "trials:")


def pages() -> dict[str, str]:
    """Return the page."""
    records = {(stream, method): search_record(method, stream) for stream in stream_names() for method in BUILT_IN}
    searches = {key: record for key, record in records.items() if record is not None}
    rows = []
    for (stream, method), record in searches.items():
        before = record["value_before"]
        defaults = NONE if before is None else f"{before:.2f}"
        figures = (f"{record['value']:.2f}", defaults, str(len(record["trials"])))
        rows.append((stream, f"`{method}`", parts(record["settings"]), *figures))
    origins = json.loads(ORIGINS.read_text("utf-8"))
    streams = {method: [stream for stream, searched in searches if searched == method] for method in BUILT_IN}
    listed = [(f"`{method}`", ", ".join(streams[method]) or NONE, origins[method]) for method in BUILT_IN]
    origin = table(("method", "searched on", "its own defaults"), listed)
    return {"docs/rivals.md": template("rivals.md", searches=table(SEARCHES, rows), origins=origin)}
