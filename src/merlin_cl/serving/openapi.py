"""How a service is called, as an OpenAPI document: made from the model, so that it names its own inputs and labels."""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from merlin_cl.serving.bodies import LONGEST_ID, LONGEST_TEXT
from merlin_cl.serving.outlook import LONGEST_NAME

if TYPE_CHECKING:
    from merlin_cl.serving.limits import Limits
    from merlin_cl.serving.service import Service

Schema = dict[str, Any]

PRINTABLE = "^[^\\u0000-\\u001f]+$"
TASK = {
    "type": ["string", "integer", "null"],
    "minLength": 1,
    "maxLength": LONGEST_NAME,
    "pattern": PRINTABLE,
    "minimum": 0,
}
ID = {"type": ["string", "null"], "minLength": 1, "maxLength": LONGEST_ID, "pattern": PRINTABLE}
COVERAGE = {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1}
NUMBER = {"type": "integer", "minimum": 0}
ERRORS = {
    400: "The body is no JSON object.",
    401: "The token is missing or wrong.",
    403: "The service was asked for by a name that is not its own.",
    404: "What was named is not there.",
    408: "The body did not come in time.",
    409: "The id belongs to another request.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    422: "Inputs, labels or names are not what the model takes; the sentence says which.",
    429: "Too much at once; `Retry-After` says when to come again.",
    503: "No answer in time, or a model that has none.",
    507: "The disk takes nothing more; nothing of the request was kept.",
}


def document(service: Service, limits: Limits) -> Schema:
    """The OpenAPI document of a service."""
    inputs, label = _inputs(service, limits), _label(service)
    answer = {
        "id": {"type": "string", "description": "What /feedback calls this answer."},
        "label": label,
        "probability": {"type": "number"},
        "probabilities": {"type": "object", "additionalProperties": {"type": "number"}},
        "set": {**_list(label), "description": "Labels of which the true one is one, with the coverage asked for."},
        "novelty": {"type": "number", "description": "The share of known examples that are less strange."},
    }
    answers = _object({"version": NUMBER, "answers": _list(_object(answer, needed=("id", "label", "probability")))})
    taken = _object({"id": {"type": "string"}, "version": NUMBER, "again": {"type": "boolean"}})
    state = {"enum": ["waiting", "learned", "refused"]}
    fate = _object({"id": {"type": "string"}, "version": NUMBER, "state": state, "why": {"type": ["string", "null"]}})
    health = _object({"answers": {"type": "boolean"}, "learns": {"type": "boolean"}, "version": NUMBER})
    labels = {**_list(label), "description": "One for each input; new ones make new classes."}
    ends = {"type": "boolean", "description": "Whether the task is over after these examples."}
    wanted = {"probabilities": {"type": "boolean"}, "coverage": COVERAGE, "novelty": {"type": "boolean"}}
    asking = _object({"inputs": inputs, "task": TASK, **wanted}, needed=("inputs",))
    learning = _object(
        {"inputs": inputs, "labels": labels, "task": TASK, "end_task": ends, "id": ID}, needed=("inputs", "labels")
    )
    right = _object({"answer": {**ID, "type": "string"}, "label": label})
    back = _object({"version": NUMBER, "id": ID}, needed=("version",))
    body, change = (400, 408, 413, 415, 422), (400, 401, 408, 409, 413, 415, 422, 507)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "merlin serve",
            "version": version("merlin-cl"),
            "description": "A model that answers and learns at once. What is acknowledged is on disk, and learned once.",
        },
        "paths": {
            "/predict": {"post": _operation("Answer inputs.", 200, answers, (*body, 503), asking)},
            "/learn": {"post": _changing("Take examples to learn.", taken, change, learning)},
            "/learn/{id}": {
                "get": _operation("Tell what became of a request to learn.", 200, fate, (404,)),
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
                ],
            },
            "/feedback": {"post": _changing("Take what would have been right.", taken, (404, *change), right)},
            "/rollback": {"post": _changing("Go back to a version.", taken, (404, *change), back)},
            "/health": {"get": _operation("Tell whether the service answers and learns.", 200, health, ())},
            "/model": {"get": _operation("Tell what the model is.", 200, {"type": "object"}, ())},
            "/status": {"get": _operation("Tell what the dashboard shows.", 200, {"type": "object"}, ())},
            "/metrics": {"get": _operation("Tell figures as Prometheus reads them.", 200, None, ())},
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _inputs(service: Service, limits: Limits) -> Schema:
    form = service.form
    value: Schema = {"type": "integer", "minimum": 0, "maximum": 255} if form.bytes else {"type": "number"}
    size = math.prod(form.shape)
    one: Schema = {**_list(value), "minItems": size, "maxItems": size}
    if form.text:
        one = value = {"type": "string", "maxLength": LONGEST_TEXT}
    if form.columns:
        one = {"anyOf": [one, _object(dict.fromkeys(form.columns, value))]}
    about = f"Inputs of {form.kind} each, flat, nested, or by column where columns have names."
    return {**_list(one), "minItems": 1, "maxItems": limits.inputs, "description": about}


def _label(service: Service) -> Schema:
    rules = service.rules
    if rules.text:
        return {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "pattern": PRINTABLE}
    return {"type": "integer" if rules.whole else "number", "minimum": -(2**53), "maximum": 2**53}


def _operation(
    about: str, status: int, answer: Schema | None, errors: tuple[int, ...], body: Schema | None = None
) -> Schema:
    error = {"application/json": {"schema": _object({"error": {"type": "string"}})}}
    good = (
        {"text/plain": {"schema": {"type": "string"}}} if answer is None else {"application/json": {"schema": answer}}
    )
    responses = {str(status): {"description": "Done.", "content": good}}
    responses |= {
        str(code): {"description": ERRORS[code], "content": error} for code in sorted({*errors, 401, 403, 429})
    }
    operation: Schema = {"summary": about, "responses": responses}
    if body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return operation


def _changing(about: str, answer: Schema, errors: tuple[int, ...], body: Schema) -> Schema:
    """An operation that changes the model: on disk when it is answered, and only with the token."""
    return {**_operation(about, 202, answer, errors, body), "security": [{"token": []}]}


def _object(properties: Schema, needed: tuple[str, ...] | None = None) -> Schema:
    required = list(properties if needed is None else needed)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}
