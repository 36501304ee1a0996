"""docs/reliability.md: how often what is promised was tried, and failed, from results/reliability/."""

import json
from pathlib import Path

from tools.pages.markdown import NOTHING, ROOT, filled, table

FOLDER = ROOT / "results" / "reliability"
SITE = ROOT / "results" / "site" / "audit.json"


def pages() -> dict[str, str]:
    """Return the page."""
    return {"docs/reliability.md": filled("docs/reliability.md", {"tries": tries(FOLDER), "site": site(SITE)})}


def tries(folder: Path) -> str:
    """Return a row for every test that has a record, and what the records were made with."""
    records = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))]
    rows = [
        (
            f"[{record['test']}](#{record['test']})",
            f"{record['tries']:,}",
            f"{record['failures']:,}",
            max(1, round(record["seconds"] / 60)),
        )
        for record in records
    ]
    made = sorted({f"{record['date']}, {record['machine']}, source {record['source']}." for record in records})
    return "\n\n".join([table(("test", "tries:", "failures:", "minutes:"), rows), *made]) if rows else NOTHING


def site(record: Path) -> str:
    """Say what looking at the site found."""
    if not record.exists():
        return NOTHING
    kept = json.loads(record.read_text("utf-8"))
    widths = ", ".join(map(str, kept["widths"]))
    return f"{kept['pages']} pages, {widths} pixels wide, {' and '.join(kept['schemes'])}: {kept['findings']} findings."
