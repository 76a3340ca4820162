"""What a stranger learns about how much others store: nothing."""

from __future__ import annotations

import json

from tests.daemon.started import Started
from tests.harness import vectors
from tests.harness.http import Http
from tests.harness.waiting import eventually

PASSING = {"uptime_s", "took_ms"}


def _holder(served: Started, namespace: str) -> Http:
    return Http(served.port, token=served.grant(namespaces={namespace: "admin"})["token"])


def _seen(stranger: Http) -> list[str]:
    """Everything that could count something, but for the time that passes."""
    answers = [
        stranger.post("/v1/search", {"query": "zanzibar"}),
        stranger.post("/v1/search", {"query": "zanzibar common"}),
        stranger.get("/v1/status"),
        stranger.get("/v1/memories?limit=1"),
    ]
    kept = [
        {name: value for name, value in answer.json.items() if name not in PASSING}
        for answer in answers
    ]
    return [json.dumps(one) for one in kept]


def test_a_strangers_answers_are_the_same_whatever_others_store(served: Started) -> None:
    """Search scores, status and the list's cursor do not change with a victim's rows."""
    victim, stranger = _holder(served, "org:victim"), _holder(served, "org:stranger")
    for text in ("zanzibar and common words", "zanzibar alone is common", "nothing"):
        stranger.store(text)
    # A daemon that has only just begun says so until its model is there. A grant is told `ready`
    # while the first vectors are still being made: the owner knows.
    eventually(lambda: vectors.settled(served.owner()))
    before = _seen(stranger)
    items = [{"content": f"zanzibar number {number}"} for number in range(100)]
    assert victim.post("/v1/memories/batch", {"items": items}).status == 200
    assert _seen(stranger) == before


def test_only_the_owner_is_told_what_all_store_together(served: Started) -> None:
    """Queue, WAL, connections and vectors in all are null for a grant and numbers for the owner."""
    told = _holder(served, "org:curious").get("/v1/status").json
    whole = served.owner().get("/v1/status").json
    for name in ("queue", "recalls", "connections", "wal_bytes"):
        assert told[name] is None
        assert isinstance(whole[name], int)
    for name in ("pending", "reading"):
        assert told["embedding"][name] is None
        assert whole["embedding"][name] is not None


def test_a_score_tells_the_place_alone(served: Started) -> None:
    """The best match has 1, the next a half; a page goes on where the one before ended."""
    client = _holder(served, "org:scores")
    for number in range(3):
        client.store(f"scored {number}")
    pages = [
        client.post("/v1/search", {"query": "scored", "limit": 2, "offset": offset}).json["hits"]
        for offset in (0, 2)
    ]
    assert [hit["score"] for page in pages for hit in page] == [1.0, 0.5, 0.3333]
