"""How much a tool answers: within the budget, best first, and every item once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.daemon.started import Started
from tests.harness.http import Http
from tests.harness.jsontypes import JsonObject
from tests.mcp.toolbox import post, text, use

ROWS = int(os.environ.get("RECALLD_TEST_MCP_ROWS", "20000"))
"""Rows of the big namespace; the contract says 50,000, which takes half a minute to fill."""
SUBJECTS = ("redis", "deploy", "parser", "login", "billing", "search", "cache", "upload")


def items(found: JsonObject) -> list[JsonObject]:
    """The items of an answer, whatever the tool calls them."""
    listed: list[JsonObject] = found.get("hits") or found.get("items") or found.get("memories", [])
    return listed


def fill(client: Http, contents: Iterator[str]) -> list[str]:
    """Store many, a thousand at a time; returns their ids."""
    ids: list[str] = []
    batch = [{"content": content} for content in contents]
    for start in range(0, len(batch), 1000):
        reply = client.post("/v1/memories/batch", {"items": batch[start : start + 1000]})
        assert reply.status == 200, reply
        ids += [one["id"] for one in reply.json["results"]]
    return ids


@pytest.fixture(scope="module")
def crowded(served: Started, tmp_path_factory: pytest.TempPathFactory) -> Http:
    """A client whose namespace holds many rows with common words."""
    client = served.client(tmp_path_factory.mktemp("crowded"))
    fill(
        client,
        (
            f"Common note {n}: the {SUBJECTS[n % 8]} service of team {n % 97} was changed because "
            f"of incident {n}, and the common fix was to restart worker {n % 31} with more memory."
            for n in range(ROWS)
        ),
    )
    return client


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, 1_024, 3_000, 20_000, 61_440, 10_000_000])
def test_no_answer_from_a_big_namespace_is_over_its_budget(
    crowded: Http, budget: int | None
) -> None:
    """Whatever is asked for, the bytes of the text stay within what was granted."""
    most = min(budget or 8_192, 61_440)
    calls: list[tuple[str, dict[str, object]]] = [
        ("memory_recall", {"query": "common fix", "limit": 100}),
        ("memory_search", {"query": "common", "limit": 100}),
        ("memory_timeline", {"before": 50, "after": 50}),
    ]
    for tool, given in calls:
        answer = text(crowded, tool, budget_bytes=budget, **given)
        assert len(answer.encode()) <= len(orjson.dumps(answer)) <= most, tool
        assert items(orjson.loads(answer))


@pytest.mark.slow
def test_ten_hits_are_small(crowded: Http) -> None:
    """The whole HTTP answer of a ten-hit recall stays under 5 kB."""
    params = {"name": "memory_recall", "arguments": {"query": "redis incident", "limit": 10}}
    reply = post(crowded, "tools/call", params)
    assert len(reply.body) < 5_000
    found = orjson.loads(reply.json["result"]["content"][0]["text"])
    assert len(found["hits"]) == 10


def test_ten_long_hits_are_small_too(client: Http) -> None:
    """Long texts are shortened in lists, with their full length told."""
    fill(client, (f"Long note {n}. " + "A sentence about the cache. " * 200 for n in range(12)))
    params = {"name": "memory_recall", "arguments": {"query": "cache sentence", "limit": 10}}
    reply = post(client, "tools/call", params)
    assert len(reply.body) < 5_500
    hits = orjson.loads(reply.json["result"]["content"][0]["text"])["hits"]
    assert len(hits) == 10
    assert all(hit["cut"]["text"] > 5_000 for hit in hits)


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "field"), [("memory_search", "title"), ("memory_recall", "text")])
def test_a_walk_meets_everything_once(
    served: Started, tmp_path: Path, tool: str, field: str
) -> None:
    """2,000 items of 5 kB and one huge one, walked to the end while others are stored."""
    client = served.client(tmp_path)
    filler = "lorem ipsum dolor " * 270
    filed = fill(client, (f"walked item {n} {filler}" for n in range(2_000)))
    huge = client.store("walked giant " + "\u6f22 x" * 13_000)
    seen: list[str] = []
    cursor: str | None = None
    for page in range(2_000):
        answer = text(client, tool, query="walked", limit=100, cursor=cursor, budget_bytes=60_000)
        assert len(orjson.dumps(answer)) <= 60_000
        found = orjson.loads(answer)
        assert all(hit[field] for hit in found["hits"])
        seen += [hit["id"] for hit in found["hits"]]
        client.store(f"walked newcomer {page}")
        cursor = found.get("more")
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert set(seen) >= {*filed, huge}


def test_a_huge_memory_is_shortened_and_can_be_read_on(client: Http) -> None:
    """Details of one that is over any budget: its id, its beginning, and the rest by offset."""
    content = "".join(f"line {n}\n" for n in range(6_000))
    ulid = client.store(content)
    read, offset = "", 0
    for _ in range(60):
        answer = text(client, "memory_fetch", ids=[ulid], offset=offset)
        assert len(orjson.dumps(answer)) <= 8_192
        (one,) = orjson.loads(answer)["memories"]
        assert one["id"] == ulid
        part = one["text"].removesuffix(" …") if "cut" in one else one["text"]
        read += part
        offset += len(part)
        if "cut" not in one:
            break
    assert "".join(read.split()) == "".join(content.split())


def test_many_details_are_cut_between_items(client: Http) -> None:
    """What does not fit is named, so that it can be fetched next."""
    ids = [client.store(f"Item {n}. " + "word " * 400) for n in range(10)]
    first = use(client, "memory_fetch", ids=ids)
    assert [one["id"] for one in first["memories"]] + first["more"] == ids
    assert all("cut" not in one for one in first["memories"])


def test_an_old_cursor_says_so(client: Http) -> None:
    """A cursor from before a restart is an error the model understands."""
    found = post(
        client,
        "tools/call",
        {"name": "memory_search", "arguments": {"query": "x", "cursor": "gone.5"}},
    ).json["result"]
    assert found["isError"]
    assert "Ask again" in found["content"][0]["text"]
