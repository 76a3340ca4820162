"""How far a daemon is with its vectors."""

from __future__ import annotations

from tests.harness.http import Http


def written(owner: Http) -> bool:
    """Whether every memory has a vector."""
    told = owner.get("/v1/status").json["embedding"]
    return bool(told["pending"] == 0)


def settled(owner: Http) -> bool:
    """Whether every memory has its vector for good: notes the one of a close reading."""
    told = owner.get("/v1/status").json["embedding"]
    reading = told["reading"]
    return told["pending"] == 0 and (reading is None or reading["state"] == "done")
