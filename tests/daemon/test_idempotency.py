"""Idempotency keys: a repeated write is answered, not repeated."""

from __future__ import annotations

import threading

import pytest

from tests.daemon.started import Started
from tests.harness.http import Http, Reply


def keyed(client: Http, key: str, body: object, path: str = "/v1/memories") -> Reply:
    """A write under a key."""
    return client.post(path, body, headers={"Idempotency-Key": key})


def test_a_repetition_gets_the_first_answer(client: Http) -> None:
    """Same key, same request: same status, same body, one memory."""
    turn = {"session": "s", "turns": [{"text": "once"}]}
    replies = [keyed(client, "k1", turn, "/v1/conversations") for _ in range(3)]
    assert len({(reply.status, reply.body) for reply in replies}) == 1
    assert len(client.get("/v1/memories").json["items"]) == 1


def test_a_key_belongs_to_one_request(client: Http) -> None:
    """The same key for something else is 409, and nothing is stored."""
    keyed(client, "k2", {"content": "this"})
    reply = keyed(client, "k2", {"content": "that"})
    assert (reply.status, reply.code) == (409, "idempotency_mismatch")
    assert len(client.get("/v1/memories").json["items"]) == 1


def test_two_at_once_store_once(client: Http) -> None:
    """Copies of a request queued together are still one write."""
    turn = {"session": "s", "turns": [{"text": "once"}]}
    replies: list[Reply] = []
    threads = [
        threading.Thread(
            target=lambda: replies.append(keyed(client, "k3", turn, "/v1/conversations"))
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({reply.body for reply in replies}) == 1
    assert len(client.get("/v1/memories").json["items"]) == 1


def test_a_failed_write_does_not_use_up_its_key(client: Http) -> None:
    """A refusal is not kept: the corrected request may come under the same key."""
    assert keyed(client, "k4", {"content": ""}).status == 400
    assert keyed(client, "k4", {"content": "better"}).status == 201


def test_odd_keys_are_refused(client: Http) -> None:
    """A key is short and printable."""
    for key in ("x" * 201, "ünï"):
        reply = client.call(
            "POST", "/v1/memories", {"content": "x"}, headers={"Idempotency-Key": key}
        )
        assert reply.code == "invalid_request"


def test_another_query_is_another_request(client: Http) -> None:
    """The same key for the same path with another query is 409, and nothing is cleared."""
    client.call("PUT", "/v1/checkpoint", {"remaining": "all of it"})
    first = "/v1/checkpoint?namespace=user:local"
    client.call("PUT", "/v1/checkpoint", {"remaining": "mine", "namespace": "user:local"})
    headers = {"Idempotency-Key": "k5"}
    assert client.call("DELETE", first, headers=headers).status == 200
    reply = client.call("DELETE", "/v1/checkpoint", headers=headers)
    assert (reply.status, reply.code) == (409, "idempotency_mismatch")
    assert client.get("/v1/checkpoint").json["checkpoint"]["remaining"] == "all of it"


@pytest.mark.parametrize("left", [{"org:b": "admin"}, {"org:a": "viewer", "org:b": "admin"}])
def test_a_narrowed_grant_gets_no_old_answer(served: Started, left: dict[str, str]) -> None:
    """A key answers only while the grant reaches as far as it did when the answer was given."""
    granted = served.grant(namespaces={"org:a": "admin", "org:b": "admin"})
    client = Http(served.port, token=granted["token"])
    ulid = keyed(client, "k6", {"content": "project heron", "namespace": "org:a"}).json["id"]
    path, headers = f"/v1/memories/{ulid}", {"Idempotency-Key": "k7"}
    changed = {"detail": "the heron"}
    answered = client.call("PATCH", path, changed, headers=headers)
    assert answered.status == 200
    served.narrow(granted["id"], left)
    replayed = client.call("PATCH", path, changed, headers=headers)
    assert (replayed.status, replayed.code) == (403, "forbidden")
    assert b"heron" not in replayed.body
    served.narrow(granted["id"], {"org:a": "admin", "org:b": "admin"})
    assert client.call("PATCH", path, changed, headers=headers).body == answered.body
