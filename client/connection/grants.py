"""What the owner asks the daemon about grants."""

from __future__ import annotations

from .channel import Channel
from .documents import Document
from .request import Request, encode


def grant(channel: Channel, wishes: Document) -> Document:
    """A new grant with these fields, as the owner: `{"id", "token", "namespaces", …}`."""
    return channel.call(Request("POST", "/v1/grants", encode(wishes), owner=True))


def listing() -> Request:
    """The owner's request for all grants."""
    return Request("GET", "/v1/grants", owner=True)
