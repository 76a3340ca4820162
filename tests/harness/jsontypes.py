"""JSON as the tests handle it: looked into freely, and wrong shapes fail the test by themselves."""

from __future__ import annotations

import json
from typing import Any, TypeAlias, cast

JsonObject: TypeAlias = dict[str, Any]


def decode(text: str | bytes) -> JsonObject:
    """The JSON object in `text`; anything else is a failure."""
    return checked(json.loads(text))


def checked(value: object) -> JsonObject:
    """`value`, which must be a JSON object."""
    assert isinstance(value, dict), value
    return cast("JsonObject", value)
