"""Field types shared by the request models: every text, number and time has bounds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

MAX_CONTENT = 65_536
"""Characters of a memory; a transcript belongs into conversations, turn by turn."""
MAX_QUERY = 32_768
"""Characters of a query: hooks send whole prompts."""
MAX_NAME = 200
EARLIEST, LATEST = 1000, 2999
"""Years a time may lie in: what is outside is a mistake, or no date at all."""

Kind = Literal[
    "preference",
    "correction",
    "failure",
    "devops",
    "project-knowledge",
    "solution",
    "note",
    "conversation",
]
Status = Literal["active", "superseded", "quarantined", "archived"]


class Request(BaseModel):
    """What a client sends: unknown fields are refused, nothing is converted ("1" is no number)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class Query(BaseModel):
    """Query parameters, which arrive as lists of texts."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Response(BaseModel):
    """What the daemon answers; these models describe, they do not filter."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def _as_instant(text: str) -> str:
    """The time in UTC with milliseconds; a date is its first moment, no zone means UTC."""
    try:
        when = datetime.fromisoformat(text.strip())
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        # Not strftime: its %Y is `9` in the year 9, and text order would not be time order.
        utc = when.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise ValueError("not a point in time, such as 2026-01-31T12:00:00Z") from None
    if not EARLIEST <= utc.year <= LATEST:
        raise ValueError(f"the year must lie between {EARLIEST} and {LATEST}")
    return f"{utc.isoformat(timespec='milliseconds')}Z"


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _single(value: object) -> object:
    """The one value of a query parameter that may occur once."""
    if isinstance(value, list):
        if len(value) != 1:  # pyright: ignore[reportUnknownArgumentType]
            raise ValueError("may be given once")
        return value[0]  # pyright: ignore[reportUnknownVariableType]
    return value


def _digits(value: object) -> object:
    """Plain digits only: int() would take 1_000 and the digits of every script."""
    single = _single(value)
    if isinstance(single, str) and not (single.isascii() and single.isdigit() and len(single) < 10):
        raise ValueError("must be a whole number")
    return single


Instant = Annotated[
    str,
    Field(min_length=4, max_length=40, json_schema_extra={"format": "date-time"}),
    AfterValidator(_as_instant),
]
"""A time, kept as RFC 3339 UTC with milliseconds, so that text order is time order."""
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(_not_blank)]
NamespaceName = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Tag = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_not_blank)]
Tags = Annotated[list[Tag], Field(max_length=32)]
Content = Annotated[str, Field(min_length=1, max_length=MAX_CONTENT), AfterValidator(_not_blank)]
Detail = Annotated[str, Field(max_length=MAX_CONTENT)]
Importance = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Ulid = Annotated[str, Field(pattern=r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
Namespaces = Annotated[list[NamespaceName], Field(min_length=1, max_length=1000)]

One = BeforeValidator(_single)
Whole = BeforeValidator(_digits)
