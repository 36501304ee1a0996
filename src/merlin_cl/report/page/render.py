"""The page as one HTML text that needs nothing else: styles, script and numbers are inside."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from merlin_cl.report.page.estimates import ESTIMATE, Estimate
from merlin_cl.report.page.headline import headline, headline_view
from merlin_cl.report.page.overview import overview
from merlin_cl.report.text import NONE, nats, percent, probability, signed, size, stored_size
from merlin_cl.runs.progress import clock_time

STYLES = ("tokens", "layout", "controls", "tables", "figures", "sections", "phone")
SCRIPTS = (
    "elements",
    "format",
    "scales",
    "marks",
    "tooltip",
    "export",
    "data_table",
    "axes",
    "labels",
    "ranking",
    "front",
    "parts",
    "curves",
    "reliability",
    "forgetting",
    "matrix",
    "diagnosis",
    "losses",
    "latent",
    "overview",
    "results",
    "address",
    "controls",
    "sorting",
    "live",
    "page",
)
"""In the order in which they build on each other."""

Content = dict[str, Any]


def page(content: Content, live: str | None = None) -> str:
    """The whole document. `live` is the version of the results on a page that `merlin watch` serves."""
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            **_prepared(content),
            live=live,
            style="\n".join(_asset(f"style/{name}.css") for name in STYLES),
            script=_script(),
            policy=policy(live=live is not None),
            figures={**packed(figures(content)), "live": live},
        )
    )


@cache
def policy(*, live: bool) -> str:
    """What a browser may do with the page: run the script inside it and nothing else, ask nobody but who serves it live."""
    script = base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()
    connect = "'self'" if live else "'none'"
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'; img-src data:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def fragment(content: Content, live: str) -> Content:
    """What changes on a live page when runs go on: the results as HTML, and the numbers of the figures."""
    main = _environment().get_template("parts/results.html.j2").render(**_prepared(content), live=live)
    return {"heading": _prepared(content)["heading"], "main": main, "figures": packed(figures(content))}


def figures(content: Content) -> Content:
    """The numbers that the script draws."""
    wanted = ("label", "slot", "series", "diagnosis", "losses", "latent", "cost")
    together = overview(content["streams"])
    return {
        "title": content["title"],
        "ranks": together and together["ranks"],
        "streams": [
            {
                **{name: stream[name] for name in ("id", "title", "tasks", "task_names", "views")},
                "view": headline_view(stream),
                "experiments": [{name: each[name] for name in wanted} for each in stream["experiments"]],
            }
            for stream in content["streams"]
        ],
    }


def packed(value: Any) -> Any:
    """The same with every estimate as a list of its parts, empty ones at the end left out: half the bytes of a page."""
    if isinstance(value, dict):
        if tuple(value) == ESTIMATE:
            filled = [place for place, part in enumerate(value.values()) if part is not None]
            return {"~": list(value.values())[: filled[-1] + 1]}
        return {name: packed(part) for name, part in value.items()}
    return [packed(part) for part in value] if isinstance(value, list) else value


def embedded(value: Any) -> str:
    """JSON that can stand inside a script element: nothing in it can end the element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _prepared(content: Content) -> Content:
    streams = [{**stream, "headline": headline(stream)} for stream in content["streams"]]
    together = overview(content["streams"])
    return {**content, "streams": streams, "overview": together, "heading": _heading(content, streams, together)}


def _heading(content: Content, streams: list[Content], together: Content | None) -> str:
    """The ranking in a sentence: of the stream where there is one, over all of them where there are several."""
    if together is not None:
        return f"{content['title']}: {together['sentence']}" if together["sentence"] else content["title"]
    said = streams[0]["headline"]["sentence"] if streams else ""
    return f"{content['title']}: {said}" if said else content["title"]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("merlin_cl.report.page", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": percent,
        "nats": nats,
        "signed": lambda value: signed(value).replace("-", "−"),
        "probability": probability,
        "size": size,
        "stored_size": stored_size,
        "clock": clock_time,
        "interval": _interval,
        "breakable": _breakable,
        "embedded": embedded,
        "setting": lambda value: value if isinstance(value, str) else json.dumps(value),
    }
    environment.globals["nothing"] = NONE
    return environment


@cache
def _asset(name: str) -> str:
    return files("merlin_cl.report.page").joinpath("assets").joinpath(name).read_text("utf-8")


@cache
def _script() -> str:
    """All scripts as one, their names kept from the rest of the page."""
    return "(() => {\n'use strict';\n" + "\n".join(_asset(f"script/{name}.js") for name in SCRIPTS) + "\n})();"


def _breakable(text: str) -> Markup:
    """A name that may go on in the next line after an underscore."""
    return Markup("_<wbr>").join(escape(part) for part in text.split("_"))


def _interval(value: Estimate, sign: bool = False) -> str:
    """The ends of a 95 % interval, empty where there is none."""
    if value["low"] is None:
        return ""
    shown = signed if sign else percent
    return f"{shown(value['low'])} to {shown(value['high'])}".replace("-", "−")
