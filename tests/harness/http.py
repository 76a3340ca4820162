"""A plain HTTP client that proves the daemon first; independent of the product's own client."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import secrets
from collections.abc import Mapping
from typing import NamedTuple

from tests.harness.jsontypes import JsonObject, decode

TIMEOUT_S = 30.0


class Reply(NamedTuple):
    """Status, headers (lower-case names) and body of one answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> JsonObject:
        """The body as a JSON object."""
        return decode(self.body)

    @property
    def code(self) -> str:
        """The wire code of an error answer."""
        return str(self.json["error"]["code"])


def proof(secret: str, instance: str, port: int, nonce: str) -> str:
    """The answer an honest daemon gives to `nonce`, computed from the published record."""
    head = b"recalld hello v1\0" + instance.encode() + b"\0" + port.to_bytes(2, "big")
    return hmac.new(bytes.fromhex(secret), head + bytes.fromhex(nonce), hashlib.sha256).hexdigest()


class Http:
    """Calls one daemon with one token; a fresh verified connection unless `keep` holds it open."""

    def __init__(
        self, port: int, *, token: str | None = None, owner: str | None = None, keep: bool = False
    ) -> None:
        self.port = port
        self.token = token
        self.owner = owner
        self.keep = keep
        self._connection: http.client.HTTPConnection | None = None

    def as_token(self, token: str | None) -> Http:
        """The same daemon called with another token, or with none."""
        return Http(self.port, token=token, keep=self.keep)

    def authorization(self) -> dict[str, str]:
        """The header this client sends by itself."""
        if self.owner is not None:
            return {"Authorization": f"Owner {self.owner}"}
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    def send(
        self,
        method: str,
        path: str,
        *,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT_S,
    ) -> Reply:
        """Send exactly these bytes as the body and return the answer, whatever its status."""
        connection = self._connection or http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=timeout
        )
        try:
            connection.request(method, path, raw, self.authorization() | dict(headers or {}))
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            reply = Reply(answer.status, named, answer.read())
        except BaseException:
            connection.close()
            self._connection = None
            raise
        if self.keep:
            self._connection = connection
        else:
            connection.close()
        return reply

    def close(self) -> None:
        """Close the connection that `keep` held open."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT_S,
    ) -> Reply:
        """Send `body` as JSON (none when it is None) and return the answer."""
        raw = None if body is None else json.dumps(body).encode()
        typed = {} if raw is None else {"Content-Type": "application/json"}
        return self.send(
            method, path, raw=raw, headers=typed | dict(headers or {}), timeout=timeout
        )

    def get(self, path: str, *, headers: Mapping[str, str] | None = None) -> Reply:
        """GET `path`."""
        return self.call("GET", path, headers=headers)

    def post(self, path: str, body: object, *, headers: Mapping[str, str] | None = None) -> Reply:
        """POST `body` as JSON to `path`."""
        return self.call("POST", path, body, headers=headers)

    def store(self, content: str, **fields: object) -> str:
        """Store one memory, insist that it worked, and return its id."""
        reply = self.post("/v1/memories", {"content": content, **fields})
        assert reply.status in {200, 201}, reply
        return str(reply.json["id"])

    def recall(self, query: str, **fields: object) -> list[JsonObject]:
        """Recall, insist that it worked, and return the hits."""
        reply = self.post("/v1/recall", {"query": query, **fields})
        assert reply.status == 200, reply
        hits: list[JsonObject] = reply.json["hits"]
        return hits

    def hello(self, secret: str, instance: str) -> bool:
        """Whether the other side proves to be the daemon that published `secret`."""
        nonce = secrets.token_hex(32)
        body = {"nonce": nonce, "api": [1, 1], "version": "0.1.0"}
        reply = self.as_token(None).post("/v1/hello", body)
        expected = proof(secret, instance, self.port, nonce)
        return reply.status == 200 and hmac.compare_digest(reply.json["mac"], expected)
