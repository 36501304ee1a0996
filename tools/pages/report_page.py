"""docs/report.md: how long the page of many runs takes to write and to open, from what benchmarks/report_page.py left."""

import json
from typing import Any

from tools.pages.markdown import NOTHING, ROOT, filled, table

FOLDER = ROOT / "results" / "report_page"
HEADINGS = ("runs", "written, CPU s:", "by the clock:", "size, MB:", "opened, CPU s:", "by the clock:", "load average:")


def pages() -> dict[str, str]:
    """Return the page."""
    records = [json.loads(file.read_text("utf-8")) for file in FOLDER.glob("*.json")]
    rows = [_row(record) for record in sorted(records, key=lambda record: (record["runs"], record["sweep"]))]
    return {"docs/report.md": filled("docs/report.md", {"speed": table(HEADINGS, rows) if rows else NOTHING})}


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    what = "each with settings of its own" if record["sweep"] else f"{record['runs'] // 10} seeds each"
    opened = record.get("opened", {})
    return (
        f"{record['runs']:,}, {what}",
        f"{record['written']['cpu']:.1f}",
        f"{record['written']['clock']:.1f}",
        f"{record['megabytes']:.2f}",
        *(f"{opened[name]:.2f}" if opened else "" for name in ("cpu", "clock")),
        f"{record['load average'][0]:.1f}",
    )
