"""/mcp: from a request that passed every guard to the official SDK's server, and back."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any, Literal

import orjson
from pydantic import ConfigDict

from ..http.bodies import decode
from ..http.call import Call
from ..http.fields import Request

CALL = "recalld.call"
"""Where the scope of a request holds the call it belongs to."""

_PASSED_ON = (b"mcp-protocol-version", b"mcp-method", b"mcp-name")


class Message(Request):
    """One JSON-RPC message; the SDK checks the rest.

    It would take a request whose id is null or an object for a notification, and not answer.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, defer_build=True)

    jsonrpc: Literal["2.0"]
    id: str | int | float = 0


class Exchange:
    """One request as the SDK sees it, and the answer it gives.

    Only what the protocol needs is passed on: no token, no session id of somebody's past, and an
    Accept that suits an answer in JSON, which is all there is.
    """

    def __init__(self, call: Call) -> None:
        self.status = 500
        self.body = bytearray()
        self._given = False
        self._raw = _mended(call.raw)
        sent = call.head.headers
        headers = [(name, sent[name]) for name in _PASSED_ON if name in sent]
        self.scope: MutableMapping[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/mcp",
            "root_path": "",
            "query_string": b"",
            "headers": [
                (b"accept", b"application/json, text/event-stream"),
                (b"content-type", b"application/json"),
                (b"content-length", str(len(self._raw)).encode()),
                *headers,
            ],
            CALL: call,
        }

    async def receive(self) -> MutableMapping[str, Any]:
        """The body, once; whether the client is still there is watched by the tools."""
        if self._given:
            await asyncio.Event().wait()
        self._given = True
        return {"type": "http.request", "body": self._raw, "more_body": False}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Collect the answer."""
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
        else:
            self.body += message.get("body", b"")


def _mended(raw: bytes) -> bytes:
    """The body without lone surrogates, which the SDK's parser refuses and JavaScript writes."""
    return orjson.dumps(decode(raw)) if rb"\ud" in raw.lower() else raw
