"""The hello, without I/O: what a client says first on every connection, and what it accepts.

Nothing secret goes out before the answer has proven that the peer knows the record's secret. A
program that took over a dead daemon's port can therefore learn a nonce and nothing else.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from ...auth import hello
from ...auth.errors import Busy, DaemonUnreachable, ImposterDetected
from ...auth.record import API, Record
from ..version import VERSION
from .documents import document, flag, items, text
from .http1 import Answer, encode_request

TARGET = "/v1/hello"
_BUSY = (429, 503)


class Hello(NamedTuple):
    """What a proven daemon said about itself; `api` is the (lowest, highest) contract it speaks."""

    version: str
    api: tuple[int, int]
    phase: str
    stale_code: bool


def body(nonce: str) -> bytes:
    """The hello's JSON body for this nonce (64 hex digits)."""
    return json.dumps({"nonce": nonce, "api": list(API), "version": VERSION}).encode()


def request(record: Record, nonce: str) -> bytes:
    """The hello as bytes, for transports that only know streams."""
    return encode_request("POST", TARGET, f"{record.host}:{record.port}", {}, body(nonce))


def judge(record: Record, nonce: str, answer: Answer) -> Hello:
    """The Hello of who answered.

    Raises ImposterDetected, DaemonUnreachable for nonsense, and Busy for who is too busy to prove
    anything: nothing was sent that a stranger could use, and nothing is known about who it is.
    """
    if answer.status in _BUSY:
        raise Busy(
            f"Port {record.port} of the discovery record is too busy to prove itself.",
            hint="Try again in a moment.",
            retry_after_ms=500,
        )
    try:
        said = document(json.loads(answer.body))
    except (ValueError, RecursionError) as error:
        raise _imposter(record) from error
    if answer.status != 200 or not hello.check(record, nonce, text(said, "mac")):
        raise _imposter(record)
    return Hello(
        text(said, "version"), _api(said.get("api")), text(said, "phase"), flag(said, "stale_code")
    )


def _api(value: object) -> tuple[int, int]:
    numbers = items(value)
    if len(numbers) == 2:
        low, high = numbers
        if isinstance(low, int) and isinstance(high, int) and low <= high:
            return low, high
    raise DaemonUnreachable(
        "The daemon does not say which API it speaks.", hint="Run: recalld restart"
    )


def _imposter(record: Record) -> ImposterDetected:
    return ImposterDetected(
        f"Port {record.port} of the discovery record answered, but it is not our daemon;"
        " nothing secret was sent.",
        hint="Run: recalld doctor",
    )
