"""Reading a body within its limits, and turning it into a checked model."""

from __future__ import annotations

import asyncio
import re
from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError
from uvicorn._types import ASGIReceiveCallable

from ...auth.errors import (
    Draining,
    InvalidRequest,
    MalformedBody,
    PayloadTooLarge,
    RequestTimeout,
)
from ..life.lifecycle import Lifecycle
from ..network.buffers import Buffers

M = TypeVar("M", bound=BaseModel)

_ESCAPE = re.compile(
    rb"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


class ClientGone(Exception):
    """The client left before its request was complete."""


class Inbox:
    """One body on its way in; `held` bytes of the common budget belong to it until `release`."""

    def __init__(self, receive: ASGIReceiveCallable, buffers: Buffers) -> None:
        self._receive = receive
        self._buffers = buffers
        self.held = 0
        self.complete = False
        """The whole body was read: the next request begins after it."""

    async def read(
        self, length: int | None, lifecycle: Lifecycle, *, limit: int, within: float
    ) -> bytes:
        """The whole body of at most `limit` bytes, `length` of which were announced.

        Raises:
            PayloadTooLarge: over the limit; what is over it is never kept.
            RequestTimeout: it did not arrive in time.
            Draining: the daemon began to stop while it arrived.
            Busy: too many bodies are being read.
            ClientGone: the connection closed.
        """
        self._check(length or 0, limit)
        try:
            async with asyncio.timeout(within) as timeout:
                with lifecycle.reading(timeout):
                    return await self.collect(limit)
        except TimeoutError:
            if lifecycle.draining:
                raise Draining(
                    "This daemon is stopping; the request was not executed.", retry_after_ms=0
                ) from None
            raise RequestTimeout("The body did not arrive in time.") from None

    async def collect(self, limit: int) -> bytes:
        """The whole body, however long it takes: for one that has arrived already.

        Raises:
            PayloadTooLarge, Busy, ClientGone: as `read` does.
        """
        parts: list[bytes] = []
        more = True
        while more:
            message = await self._receive()
            if message["type"] != "http.request":
                raise ClientGone
            part = message.get("body", b"")
            self._check(self.held + len(part), limit)
            # Only what is here: an announcement would let a few who send nothing hold it all.
            self._buffers.take(len(part))
            self.held += len(part)
            parts.append(part)
            more = message.get("more_body", False)
        self.complete = True
        return b"".join(parts)

    def _check(self, size: int, limit: int) -> None:
        if size > limit:
            raise PayloadTooLarge(f"The body is larger than {limit} bytes.")

    def release(self) -> None:
        """Give the budget back."""
        self._buffers.give_back(self.held)
        self.held = 0


def decode(raw: bytes) -> object:
    """The JSON value in a body; lone surrogates become U+FFFD.

    Raises:
        MalformedBody: not JSON, not UTF-8, nested too deep, or a number beyond a double.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        # JavaScript writes half an emoji as a lone \ud83d: legal JSON, but no Unicode text.
        if "surrogate" in str(error) and b"\\u" in raw:
            return _decode_mended(raw)
        raise MalformedBody(f"The body is not valid JSON: {_position(error)}.") from None


def _decode_mended(raw: bytes) -> object:
    mended = _ESCAPE.sub(lambda m: rb"\ufffd" if m.group(2) else m.group(0), raw)
    try:
        return orjson.loads(mended)
    except orjson.JSONDecodeError as error:
        raise MalformedBody(f"The body is not valid JSON: {_position(error)}.") from None


def _position(error: orjson.JSONDecodeError) -> str:
    reason = str(error).partition(":")[0]
    return f"{reason} at byte {error.pos}"


def validate(model: type[M], value: object) -> M:
    """The value as an instance of the model.

    Raises:
        InvalidRequest: a field is missing, unknown, of the wrong type or out of bounds; names it.
        PayloadTooLarge: a text is too long.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _explain(error) from None


def _explain(error: ValidationError) -> InvalidRequest:
    """One sentence about the first thing that is wrong, without quoting what was sent."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])[:200].encode("utf-8", "replace").decode()
    where = f"Field {place!r}" if place else "The body"
    reason = first["msg"].removeprefix("Value error, ")
    reason = reason[:1].lower() + reason[1:]
    if first["type"] == "string_too_long":
        return PayloadTooLarge(f"{where} is too long: {reason}.")
    return InvalidRequest(f"{where} is wrong: {reason}.")
