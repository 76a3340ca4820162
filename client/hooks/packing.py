"""From an event to what is sent or spooled: bounded, and clean wherever anything is cut.

The daemon's intake redacts what it takes in. Here that happens only before a cut, which could leave
half a secret or the inside of a `<private>` part unrecognisable, and before a file is written.
"""

from __future__ import annotations

import json
import os
import time

from ..connection.documents import Document, text
from .event import Event

MOST_BYTES = 32_768
"""Bytes of one event as JSON."""

_LONG = {"text": 16_000, "input": 8_000, "response": 8_000, "error": 8_000}
_PLAIN = ("id", "host", "kind", "session", "at")
"""What the daemon matches or sorts by: no text of anybody's."""
_SHORT = 1_000
_PATHS = ("cwd", "transcript")
_LONGEST_PATH = 4_096
_LOOKED_AT = 64_000
"""Characters around the ends of an overlong text that are searched for secrets; only the outermost
few thousand of them are kept."""

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_id() -> str:
    """A ULID: ids of later milliseconds sort behind earlier ones."""
    value = (time.time_ns() // 1_000_000 << 80) | int.from_bytes(os.urandom(10), "big")
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))


def packed(event: Event, host: str) -> Document:
    """The event as POST /v1/events takes it, at most MOST_BYTES long; unknown fields left out."""
    moment = time.time_ns() // 1_000_000
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment // 1000)) + f".{moment % 1000:03d}Z"
    found: Document = {"id": new_id(), "host": host, "kind": event.kind, "at": at}
    for name, value in event._asdict().items():
        if name != "kind" and (kept := _bounded(name, value)):
            found[name] = kept
    return _fitted(found)


def scrubbed(event: Document) -> Document:
    """The packed event without private parts and secrets, for a file."""
    return {
        name: value if name in _PLAIN or not isinstance(value, str) else _clean(value)
        for name, value in event.items()
    }


def _bounded(name: str, value: object) -> str:
    whole = _characters(value)
    if name in _PATHS:
        return whole[:_LONGEST_PATH]
    return _cut(whole, _LONG[name]) if name in _LONG else whole[:_SHORT]


def _characters(value: object) -> str:
    """The value as text: structures as compact JSON, lone surrogates replaced."""
    if value is None:
        return ""
    found = value if isinstance(value, str) else _compact(value)
    try:
        found.encode()
    except UnicodeEncodeError:
        return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return found


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cut(value: str, most: int) -> str:
    if len(value) <= most:
        return value
    value = _clean(value)
    return value if len(value) <= most else _middle_out(value, most)


def _clean(value: str) -> str:
    from ...auth.redaction import redact, strip_private  # the usual event needs neither

    value = strip_private(value)
    if len(value) > _LOOKED_AT:
        value = _middle_out(value, _LOOKED_AT)
    return redact(value)[0]


def _middle_out(value: str, most: int) -> str:
    """Both ends of the value: a command's error is in its last lines, its subject in the first."""
    mark = f" … [{len(value) - most} characters left out] … "
    kept = (most - len(mark)) // 2
    return value[:kept] + mark + value[-kept:]


def _fitted(event: Document) -> Document:
    """The event with its longest fields halved until it fits; wide scripts are 3 bytes a letter."""
    while len(_compact(event).encode()) > MOST_BYTES:
        longest = max(_LONG, key=lambda name: len(text(event, name)))
        event[longest] = _cut(text(event, longest), len(text(event, longest)) // 2)
    return event
