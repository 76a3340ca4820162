"""Carrying one message to the daemon and its answer back, through restarts, within a deadline.

Every message has an idempotency key, so sending it again after a broken connection is always safe:
the daemon recognises a write that it did carry out.
"""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from enum import Enum

from ...auth.errors import (
    Busy,
    ClientTooOld,
    DaemonSilent,
    DaemonUnreachable,
    Draining,
    GrantElsewhere,
    RecalldError,
    StartFailed,
    Unauthenticated,
    from_wire,
)
from ...auth.paths import Layout
from ..connection import access
from ..connection.access import Credentials, Notice
from ..connection.channel import Channel
from ..connection.deadline import Deadline
from ..connection.documents import document, parse, text
from ..connection.http1 import Answer, quote
from ..connection.request import new_key
from ..connection.wire import Broken, Silence
from . import messages
from .messages import Message

TARGET = "/mcp"

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
_VERSION = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Stage(Enum):
    """How far a bridge got with the daemon."""

    ABSENT = "it is not there, or is being started"
    THERE = "it has proven itself"
    ANSWERING = "it has answered a message"


class Door:
    """What all calls share: where the daemon lives, who we are there, which revision is spoken."""

    def __init__(
        self, layout: Layout, environ: Mapping[str, str], folder: str, notice: Notice
    ) -> None:
        self.layout = layout
        self.environ = environ
        self.version = ""
        """The protocol revision agreed on at `initialize`."""
        self.stage = Stage.ABSENT
        """How far we got with the daemon, as the last call that tried found."""
        self._folder = folder
        self._notice = notice
        self._credentials: Credentials | None = None
        self._lock = threading.Lock()

    def credentials(self, channel: Channel) -> Credentials:
        """The credentials of the folder, minted at its first use."""
        with _held(self._lock, channel.deadline):
            if self._credentials is None:
                self._credentials = access.credentials(
                    channel, self._folder, self.environ, self._notice
                )
            return self._credentials

    def refused(
        self, old: Credentials, error: RecalldError, channel: Channel
    ) -> Credentials | None:
        """Other credentials after a refusal, if there are any: renewed, rotated or moved."""
        with _held(self._lock, channel.deadline):
            if self._credentials is old:
                if isinstance(error, GrantElsewhere):
                    self._credentials = access.moved(channel, old, self._notice)
                else:
                    self._credentials = access.credentials(
                        channel, self._folder, self.environ, self._notice
                    )
            return None if self._credentials == old else self._credentials


class Courier:
    """One thread's way to the daemon: a connection that is kept as long as it lives."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._channel = Channel(door.layout, door.environ, Deadline(0))

    def carry(self, message: Message, deadline: Deadline) -> bytes:
        """The answer's line; raises RecalldError, at the latest when the deadline is over."""
        self._channel.deadline = deadline
        return self._persist(message, deadline)

    def _persist(self, message: Message, deadline: Deadline) -> bytes:
        key, pause = new_key(), _FIRST_PAUSE
        while True:
            try:
                return self._once(message, key)
            except (StartFailed, ClientTooOld):
                raise
            except (Broken, DaemonUnreachable, Draining, Busy) as error:
                self._channel.close()
                if not isinstance(error, (Busy, DaemonSilent)):  # those are there
                    self._door.stage = Stage.ABSENT
                if deadline.left() <= pause:
                    raise _outlasted(error, deadline) from error
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _once(self, message: Message, key: str) -> bytes:
        found = self._door.credentials(self._channel)
        try:
            answer = self._ask(message, key, found)
            return self._judged(message, answer)
        except (Unauthenticated, GrantElsewhere) as error:
            other = self._door.refused(found, error, self._channel)
            if other is None:
                if isinstance(error, Unauthenticated):
                    raise access.refused(error, found) from error
                raise
            return self._judged(message, self._ask(message, key, other))

    def _ask(self, message: Message, key: str, found: Credentials) -> Answer:
        live = self._channel.live()
        if self._door.stage is Stage.ABSENT:
            self._door.stage = Stage.THERE
        headers = {"Authorization": f"Bearer {found.token}", "Idempotency-Key": key}
        if found.root is not None:
            headers["Recalld-Checkout"] = quote(found.root)
            pinned = access.pinned(found)
            if pinned is not None:
                headers["Recalld-Namespace"] = pinned
        headers |= routing(message, self._door.version)
        try:
            answer = live.wire.ask(
                "POST", TARGET, headers=headers, body=message.raw, deadline=self._channel.deadline
            )
        except Silence as error:
            self._channel.close()
            raise DaemonSilent(
                f"The daemon (pid {live.record.pid}) did not answer in time.",
                hint="Try again, or run: recalld doctor",
            ) from error
        self._door.stage = Stage.ANSWERING
        return answer

    def _judged(self, message: Message, answer: Answer) -> bytes:
        """The line of a JSON-RPC answer, whatever its status; raises what the guards refused."""
        line = messages.answer(message, answer.body)
        if line is None:
            raise from_wire(parse(answer.body), max(answer.status, 400))
        if message.method == "initialize":
            said = document(document(parse(line)).get("result"))
            self._door.version = text(said, "protocolVersion") or self._door.version
        return line


def routing(message: Message, agreed: str) -> dict[str, str]:
    """The headers that repeat over HTTP what the message says itself."""
    told = document(message.params.get("_meta")).get(_VERSION)
    if not isinstance(told, str):  # a revision with a handshake
        known = agreed and message.method != "initialize"
        return {"MCP-Protocol-Version": agreed} if known else {}
    headers = {"MCP-Protocol-Version": _header(told), "Mcp-Method": _header(message.method)}
    name = message.params.get(_NAMED.get(message.method, ""))
    return headers | ({"Mcp-Name": _header(name)} if isinstance(name, str) else {})


def _header(value: str) -> str:
    """The value as the protocol writes it into a header."""
    if value.isascii() and value.isprintable() and value == value.strip():
        return value
    raw = value.encode("utf-8", "surrogateescape")
    return f"=?base64?{base64.b64encode(raw).decode('ascii')}?="


def _outlasted(error: Exception, deadline: Deadline) -> RecalldError:
    if isinstance(error, RecalldError):
        return error
    return DaemonUnreachable(
        f"The connection to the daemon broke, and none came back within {deadline.seconds:g} s."
    )


def told(message: Message, error: RecalldError) -> bytes:
    """The line that tells a call's error under its id."""
    data: dict[str, object] = {"code": error.code}
    if error.retry_after_ms is not None:
        data["retry_after_ms"] = error.retry_after_ms
    sentence = f"{error.message} {error.hint or ''}".strip()
    return messages.failure(message.id, messages.FAILED, sentence, data)


@contextmanager
def _held(lock: threading.Lock, deadline: Deadline) -> Generator[None]:
    """Hold the lock, waiting for it no longer than the deadline."""
    if not lock.acquire(timeout=max(deadline.left(), 0.001)):
        raise DaemonSilent("Another call is still asking for access.")
    try:
        yield
    finally:
        lock.release()
