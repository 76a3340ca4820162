"""What is asked of the daemon, before it meets a connection."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from ...auth.errors import DaemonSilent, DaemonUnreachable
from .http1 import quote

_SAFE = frozenset({"GET", "HEAD"})
_READS = frozenset({"/v1/recall", "/v1/search"})
_REMEDY = "Try again, or run: recalld doctor"


class Request(NamedTuple):
    """One request before it meets a connection.

    `token` is a grant's token and `owner` asks for the owner's rights instead; `checkout` is the
    real root the token belongs to; `key` makes a write repeatable; `namespace` is what the checkout
    pins, for writes that name none.
    """

    method: str
    target: str
    body: bytes | None = None
    token: str | None = None
    owner: bool = False
    checkout: str | None = None
    key: str | None = None
    namespace: str | None = None

    def repeatable(self) -> bool:
        """Whether sending it twice has the effect of sending it once."""
        path = self.target.partition("?")[0]
        return self.method in _SAFE or self.key is not None or path in _READS

    def lost(self) -> DaemonUnreachable:
        """The error when the connection broke under it and it is not sent again."""
        doubt = "" if self.repeatable() else " It is unknown whether it was carried out."
        return DaemonUnreachable(
            f"The connection to the daemon broke during {self._name()}.{doubt}", hint=_REMEDY
        )

    def unanswered(self, pid: int, seconds: float, log: str) -> DaemonSilent:
        """The error when the daemon of this pid kept silent for so long."""
        return DaemonSilent(
            f"The daemon (pid {pid}) did not answer within {seconds:g} s"
            f" (phase request: {self._name()}). Log: {log}.",
            hint=_REMEDY,
        )

    def _name(self) -> str:
        return f"{self.method} {self.target.partition('?')[0]}"

    def headers(self, secret: str) -> dict[str, str]:
        """The headers of this request for the daemon with this owner secret."""
        found: dict[str, str] = {}
        if self.owner:
            found["Authorization"] = f"Owner {secret}"
        elif self.token is not None:
            found["Authorization"] = f"Bearer {self.token}"
        if self.checkout is not None and not self.owner:
            found["Recalld-Checkout"] = quote(self.checkout)
        if self.key is not None:
            found["Idempotency-Key"] = self.key
        if self.namespace is not None:
            found["Recalld-Namespace"] = self.namespace
        return found


def new_key() -> str:
    """A fresh idempotency key."""
    return os.urandom(16).hex()


def encode(value: object) -> bytes:
    """JSON for a request body; pure ASCII, so no argument byte can make it undecodable."""
    return json.dumps(value).encode("ascii")
