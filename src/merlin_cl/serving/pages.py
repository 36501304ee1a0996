"""The two pages that a service shows: how it does, and how it is called. Each is one text that asks nobody else for anything."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def dashboard() -> str:
    """The page that shows, every two seconds, how the service does."""
    template = _environment().get_template("dashboard.html.j2")
    return template.render(style=_asset("style.css"), script=_asset("dashboard.js"))


def documentation(document: dict[str, Any]) -> str:
    """An OpenAPI document as a page."""
    return _environment().get_template("docs.html.j2").render(style=_asset("style.css"), document=document)


@cache
def policy() -> str:
    """What a browser may do with a page: run the script inside it, and ask this service alone."""
    script = base64.b64encode(hashlib.sha256(_asset("dashboard.js").encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("merlin_cl.serving", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["json"] = lambda value: json.dumps(value, indent=2)
    return environment


@cache
def _asset(name: str) -> str:
    return files("merlin_cl.serving").joinpath("assets").joinpath(name).read_text("utf-8")
