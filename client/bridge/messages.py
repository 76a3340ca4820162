"""What comes in on stdin, line by line, and what goes out: JSON-RPC without any I/O.

A request must be answered under its own id even when it cannot be read: a client waits for that id,
and an error under `null` leaves it waiting.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple, cast

from ..connection.documents import Document, document, items

MOST_BYTES = 8 << 20
"""Longest line that is read; the daemon takes less and says so under the request's id."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
FAILED = -32000

_ENDS = 4096
_FIRST_ID = re.compile(rb'^\s*\{[^{}]*?"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,18})\s*[,}]')
_LAST_ID = re.compile(
    rb'"id"\s*:\s*("(?:[^"\\{}]|\\.){0,200}"|-?\d{1,18})\s*(?:,[^{}\[\]]*)?\}\s*$'
)

Id = str | int | float


class Message(NamedTuple):
    """One JSON-RPC message: its bytes, and what decides where it goes."""

    raw: bytes
    body: Document

    @property
    def id(self) -> Id | None:
        """The id a request wants its answer under; None for everything else."""
        found = self.body.get("id")
        return found if isinstance(found, Id) and not isinstance(found, bool) else None

    @property
    def method(self) -> str:
        """The method, empty for what is no request and no notification."""
        found = self.body.get("method")
        return found if isinstance(found, str) else ""

    @property
    def params(self) -> Document:
        """The parameters."""
        return document(self.body.get("params"))


class Lines:
    """Cuts a stream into lines; of one that is too long only the two ends are kept."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._skipped = False

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are complete now, without their ends; blank ones are left out."""
        *ended, rest = data.split(b"\n")
        lines: list[bytes] = []
        for piece in ended:
            self._add(piece)
            if self._line.strip():
                lines.append(bytes(self._line))
            self._line.clear()
            self._skipped = False
        self._add(rest)
        return lines

    def _add(self, piece: bytes) -> None:
        self._line += piece
        if len(self._line) > MOST_BYTES or self._skipped:
            # Not JSON any more, so it is answered as unreadable, under the id found in its ends.
            self._skipped = True
            self._line = self._line[:_ENDS] + b"\x00" + self._line[-_ENDS:]


def read(line: bytes) -> list[Message | bytes]:
    """The messages of a line (a batch has several); bytes are answers to what cannot be read."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return [failure(_salvaged(line), PARSE_ERROR, "The line is not JSON, or far too long.")]
    if isinstance(value, list):
        parts = items(cast("object", value)) or [None]
        return [_message(json.dumps(part).encode("ascii"), part) for part in parts]
    return [_message(line.strip(), value)]


def _message(raw: bytes, value: object) -> Message | bytes:
    found = Message(raw, document(value))
    if found.method and ("id" not in found.body or found.id is not None):
        return found
    if not found.method and ("result" in found.body or "error" in found.body):
        return found  # an answer to something we never ask; nobody waits for one to it
    return failure(found.id, INVALID_REQUEST, "The message is not a JSON-RPC request.")


def failure(
    number: Id | None, code: int, message: str, data: dict[str, object] | None = None
) -> bytes:
    """The line of an error answer."""
    error: dict[str, object] = {"code": code, "message": message}
    if data:
        error["data"] = data
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode("ascii")


def answer(request: Message, body: bytes) -> bytes | None:
    """What the daemon answered as a line under the request's id; None when it is no such answer."""
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    said = document(value)
    if said.get("jsonrpc") != "2.0" or not ("result" in said or "error" in said):
        return None
    if said.get("id") == request.id and b"\n" not in body:
        return body
    return json.dumps({**said, "id": request.id}).encode("ascii")


def _salvaged(line: bytes) -> Id | None:
    """The id of a request that cannot be parsed, if it stands where ids stand."""
    found = _FIRST_ID.search(line[:_ENDS]) or _LAST_ID.search(line[-_ENDS:])
    if found is None:
        return None
    try:
        value: object = json.loads(found[1])
    except ValueError:
        return None
    return value if isinstance(value, Id) else None
