"""`/openapi.json`, generated from the route table: every route, every parameter, every error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

import orjson
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from ...auth import errors as e
from ..identity import VERSION
from . import responses
from .access import Need
from .answers import Answer
from .call import Call
from .route import Handler, Route

Json = dict[str, object]

EVERYWHERE = (
    e.RecalldError, e.InvalidRequest, e.MalformedBody, e.ForeignHost, e.ForeignOrigin,
    e.MethodNotAllowed, e.NotFound, e.Busy, e.HeadersTooLarge, e.RequestTimeout,
)  # fmt: skip
WITH_BODY = (e.UnsupportedMediaType, e.PayloadTooLarge)
WITH_TOKEN = (e.Unauthenticated, e.UnsafePermissions, e.StoreDamaged)
WITH_GRANT = (e.GrantElsewhere, e.AccessDenied, e.InvalidNamespace)
WITH_STORE = (e.StoreDamaged, e.StorageTrouble, e.DeadlineExceeded, e.DiskFull)

_REF = "#/components/schemas/{model}"


def describing(routes: Callable[[], Iterable[Route]]) -> Handler:
    """The handler that describes these routes, its own among them; it asks for them when called."""

    @cache
    def document() -> bytes:
        return orjson.dumps(describe(routes()))

    async def openapi(_call: Call) -> Answer:
        """The description of this interface."""
        return Answer(200, document())

    return openapi


def describe(routes: Iterable[Route]) -> Json:
    """The OpenAPI 3.1 document of a route table."""
    listed = tuple(routes)
    paths: dict[str, Json] = {}
    for route in listed:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "recalld",
            "version": VERSION,
            "description": "One memory for every coding agent on a machine.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": _schemas(listed),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "owner": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "`Owner <secret>`, the secret of the discovery record.",
                },
            },
        },
    }


def errors_of(route: Route) -> tuple[type[e.RecalldError], ...]:
    """Every error the route can answer, each once."""
    found: list[type[e.RecalldError]] = [*EVERYWHERE, *route.errors]
    if route.body is not None:
        found += WITH_BODY
    if route.query is not None:
        found.append(e.PayloadTooLarge)  # of a field that is too long
    if route.need is not Need.NOBODY:
        found += WITH_TOKEN
    if route.need in (Need.GRANT, Need.EITHER):
        found += [*WITH_GRANT, *WITH_STORE]
    if route.keyed:
        found.append(e.IdempotencyMismatch)
    if not route.while_draining:
        found.append(e.Draining)
    return tuple(dict.fromkeys(found))


def _operation(route: Route) -> Json:
    operation: Json = {
        "summary": route.summary,
        "description": (route.handler.__doc__ or "").strip(),
        "operationId": _operation_id(route),
        "tags": [route.path.split("/")[2] if route.path.startswith("/v1/") else "meta"],
        "parameters": [*_path_parameters(route), *_query_parameters(route), *_headers(route)],
        "responses": {**_successes(route), **_failures(route)},
        "security": _security(route.need),
    }
    if route.body is not None:
        operation["requestBody"] = {
            "required": any(field.is_required() for field in route.body.model_fields.values()),
            "content": _content(route.body),
        }
    return operation


def _operation_id(route: Route) -> str:
    return f"{route.handler.__module__.rpartition('.')[2]}_{route.handler.__name__}"


def _path_parameters(route: Route) -> list[Json]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", route.path)
    ]


def _query_parameters(route: Route) -> list[Json]:
    if route.query is None:
        return []
    properties = route.query.model_json_schema(ref_template=_REF).get("properties", {})
    return [
        {"name": name, "in": "query", "required": False, "schema": schema, "explode": True}
        for name, schema in properties.items()
    ]


def _headers(route: Route) -> list[Json]:
    found: list[Json] = []
    if route.need in (Need.GRANT, Need.EITHER):
        found.append(
            _header("Recalld-Checkout", "Percent-encoded real path of the checkout.", 8192)
        )
        found.append(
            _header("Recalld-Namespace", "What the checkout pins: home of what names none.", 200)
        )
    if route.keyed:
        found.append(_header("Idempotency-Key", "Makes repeating this request safe.", 200))
    return found


def _header(name: str, description: str, longest: int) -> Json:
    schema = {"type": "string", "minLength": 1, "maxLength": longest, "pattern": "^[!-~]+$"}
    return {
        "name": name,
        "in": "header",
        "required": False,
        "schema": schema,
        "description": description,
    }


def _successes(route: Route) -> Json:
    kind = "text/event-stream" if route.streams else "application/json"
    return {
        str(status): {"description": route.summary, "content": _content(route.response, kind)}
        for status in route.status
    }


def _failures(route: Route) -> Json:
    by_status: dict[int, list[str]] = {}
    for error in errors_of(route):
        by_status.setdefault(error.status, []).append(error.code)
    return {
        str(status): {
            "description": ", ".join(f"`{code}`" for code in codes),
            "content": _content(responses.Error),
            "x-error-codes": codes,
        }
        for status, codes in sorted(by_status.items())
    }


def _security(need: Need) -> list[Json]:
    schemes: Mapping[Need, list[Json]] = {
        Need.NOBODY: [],
        Need.GRANT: [{"token": []}],
        Need.OWNER: [{"owner": []}],
        Need.EITHER: [{"token": []}, {"owner": []}],
    }
    return schemes[need]


def _content(model: type[BaseModel], kind: str = "application/json") -> Json:
    return {kind: {"schema": {"$ref": _REF.format(model=model.__name__)}}}


def _schemas(routes: Iterable[Route]) -> Json:
    models: dict[type[BaseModel], None] = {responses.Error: None}
    for route in routes:
        models[route.response] = None
        if route.body is not None:
            models[route.body] = None
    wanted = [(model, "validation") for model in models]
    _, document = models_json_schema(wanted, ref_template=_REF)  # type: ignore[arg-type]
    return dict(document["$defs"])
