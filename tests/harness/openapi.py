"""Requests made up from the OpenAPI description, so that no route can be forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.harness.jsontypes import JsonObject, checked

METHODS = ("get", "post", "put", "patch", "delete")


class Operation(NamedTuple):
    """One method on one path, as described."""

    method: str
    path: str
    described: JsonObject

    @property
    def name(self) -> str:
        """For messages: `POST /v1/recall`."""
        return f"{self.method} {self.path}"

    @property
    def needs_nobody(self) -> bool:
        """Whether the description says that no authorisation is needed."""
        return self.described.get("security") in ([], [{}])


def operations(document: JsonObject) -> Iterator[Operation]:
    """Every operation of the description."""
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                yield Operation(method.upper(), path, methods[method])


def smallest_body(document: JsonObject, operation: Operation) -> JsonObject | None:
    """The smallest body the description allows; None when the operation takes none."""
    body = operation.described.get("requestBody")
    if body is None:
        return None
    made = smallest(document, body["content"]["application/json"]["schema"])
    return checked(made)


def smallest(document: JsonObject, schema: JsonObject, name: str = "") -> Any:
    """A small value the schema allows; `name` is the field it is for."""
    if "$ref" in schema:
        target: Any = document
        for part in str(schema["$ref"]).removeprefix("#/").split("/"):
            target = target[part]
        return smallest(document, target, name)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return smallest(document, schema[choice][0], name)
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    if schema.get("format") == "date-time":
        return "2026-01-31T12:00:00Z"
    return _of_type(document, schema, name)


def _of_type(document: JsonObject, schema: JsonObject, name: str) -> Any:
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            return {key: smallest(document, fields[key], key) for key in schema.get("required", [])}
        case "array":
            items = schema.get("items") or schema.get("prefixItems", [{}])[0]
            return [smallest(document, items, name)] * max(1, int(schema.get("minItems", 1)))
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return "a" * max(3, int(schema.get("minLength", 3)))
