"""How `status`, `start` and `doctor` say the same things about a daemon: in the same words."""

from __future__ import annotations

from ..connection.documents import Document, count, items

_STARTERS = {"spawn": "a client that needed it", "foreground": "recalld serve"}
"""How a daemon came to run, for people; other names are those of service managers."""


def starter(managed_by: str) -> str:
    """Who started a daemon that says it is managed by this."""
    return f"started by {_STARTERS.get(managed_by, managed_by)}"


def holdings(status: Document) -> str:
    """What the store of a daemon holds, from its answer to `GET /v1/status`."""
    memories, namespaces = size(status, "memories"), size(status, "namespaces")
    return f"{counted(memories, 'memory', 'memories')} in {counted(namespaces, 'namespace')}"


def counted(number: int, one: str, more: str = "") -> str:
    """So many of something; `more` is the plural where an s is not enough."""
    return f"{number} {one if number == 1 else more or f'{one}s'}"


def size(answer: Document, key: str) -> int:
    """A count, whether the daemon sent the number or the things themselves."""
    return len(items(answer.get(key))) or count(answer, key)
