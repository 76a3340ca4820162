"""Reading JSON with types: every accessor says what it expects and never crashes on less."""

from __future__ import annotations

import json
from typing import cast

Document = dict[str, object]
"""A JSON object."""


def document(value: object) -> Document:
    """The value as a JSON object; anything else reads as an empty one."""
    return cast("Document", value) if _is_object(value) else {}


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def items(value: object) -> list[object]:
    """The values of a JSON array; anything else reads as an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def rows(value: object) -> list[Document]:
    """The JSON objects of a JSON array."""
    return [document(item) for item in items(value) if _is_object(item)]


def strings(value: object) -> list[str]:
    """The strings of a JSON array."""
    return [item for item in items(value) if isinstance(item, str)]


def text(doc: Document, key: str) -> str:
    """A string field; missing or of another type reads as empty."""
    value = doc.get(key)
    return value if isinstance(value, str) else ""


def maybe_text(doc: Document, key: str) -> str | None:
    """A string field that may be null."""
    value = doc.get(key)
    return value if isinstance(value, str) else None


def number(doc: Document, key: str) -> float:
    """A numeric field; missing or of another type reads as 0."""
    value = doc.get(key)
    return float(value) if isinstance(value, (int, float)) else 0.0


def count(doc: Document, key: str) -> int:
    """An integer field; missing or of another type reads as 0."""
    value = doc.get(key)
    return value if isinstance(value, int) else 0


def flag(doc: Document, key: str) -> bool:
    """A boolean field; only a true `true` counts."""
    return doc.get(key) is True


def parse(raw: bytes) -> object:
    """The JSON value of these bytes; None when they are not JSON."""
    try:
        value: object = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value
