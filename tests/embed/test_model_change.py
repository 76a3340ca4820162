"""Another model: its vectors are made behind recall's back, and two sets never mix."""

from __future__ import annotations

import json
from pathlib import Path

import apsw

from tests.embed.conftest import Provide
from tests.embed.providing import NAMESPACE, Household, Provider, ask, contents, remember
from tests.harness.waiting import eventually

ROWS = 50
TEXTS = [f"Service number {n} listens on port {9000 + n}" for n in range(ROWS)]


def _settings(provider: Provider, model: str = "fake-a") -> dict[str, object]:
    return {"embedder": "ollama", "embed_model": model, "embed_url": provider.url}


def _spaces(data: Path) -> list[tuple[str, int, int]]:
    """Model, dimension and completeness of every space, in the order they were made."""
    connection = apsw.Connection(str(data / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        query = "SELECT json_group_array(json_array(model, dim, active) ORDER BY id) FROM spaces"
        found = json.loads(str(connection.execute(query).get))
    finally:
        connection.close()
    return [(str(model), int(dim), int(active)) for model, dim, active in found]


def _restart(household: Household, settings: dict[str, object]) -> None:
    household.daemon.terminate()
    household.start(settings)


def test_another_dimension_and_another_name(
    household: Household, provide: Provide, data: Path
) -> None:
    """A model of another dimension, and one of another name, each get a set of their own."""
    small, large = provide(dim=384), provide(dim=768)
    http = household.start(_settings(small))
    remember(http, *TEXTS)
    assert household.drained()["dim"] == 384
    _restart(household, _settings(large))
    assert household.drained()["dim"] == 768
    eventually(lambda: _spaces(data) == [("ollama:fake-a", 768, 1)], within=20)
    _restart(household, _settings(small, "fake-b"))
    told = household.drained()
    assert (told["model"], told["dim"], told["total"]) == ("ollama:fake-b", 384, ROWS)
    http = household.start(_settings(small, "fake-b"))
    assert ask(http, "service number 7")["degraded"] == []
    eventually(lambda: _spaces(data) == [("ollama:fake-b", 384, 1)], within=20)


def test_an_unreachable_model_costs_nothing_else(household: Household, provide: Provide) -> None:
    """With the new model out of reach, storing, forgetting and word recall go on, and say so."""
    provider = provide()
    http = household.start(_settings(provider))
    ids = remember(http, *TEXTS)
    household.drained()
    provider.end()
    household.daemon.terminate()
    http = household.start(_settings(provider, "fake-b"))
    remember(http, "The gateway speaks gRPC")
    answer = ask(http, "gateway")
    assert contents(answer)[0] == "The gateway speaks gRPC"
    assert answer["degraded"] == ["vectors_unavailable"]
    assert http.call("DELETE", f"/v1/memories/{ids[7]}").status == 200
    assert TEXTS[7] not in contents(ask(http, "service number 7"))
    told = household.until(lambda now: now["state"] == "failed")
    assert "cannot be reached" in told["last_error"]


def test_the_old_vectors_serve_until_the_new_are_complete(
    household: Household, provide: Provide, data: Path
) -> None:
    """From the shipped table to a provider: the table answers meanwhile, and recall says so."""
    provider = provide()
    http = household.start({})
    remember(http, *TEXTS, "Indent Makefiles with tab characters")
    household.drained()
    household.daemon.terminate()
    provider.become("slow=4")  # within the five seconds it has for its first answer
    http = household.start(_settings(provider))
    answer = ask(http, "whitespace at the start of build recipe lines")
    assert answer["degraded"] == ["reembedding"]
    assert contents(answer)[0] == "Indent Makefiles with tab characters"
    provider.become("ok")
    household.drained()
    eventually(lambda: ask(http, "service number 7")["degraded"] == [], within=20)
    eventually(lambda: _spaces(data) == [("ollama:fake-a", 384, 1)], within=20)


def test_kill_in_the_middle(household: Household, provide: Provide, data: Path) -> None:
    """Killed half-way through, it goes on with what is missing and does nothing twice."""
    provider = provide()
    http = household.start({"embedder": "none"})
    for first in range(0, 500, 100):
        items = [
            {"content": f"{TEXTS[7]} take {n}", "namespace": NAMESPACE}
            for n in range(first, first + 100)
        ]
        assert http.post("/v1/memories/batch", {"items": items}).status in {200, 201}
    household.daemon.terminate()
    provider.become("slow=0.3")
    household.start(_settings(provider))
    told = household.until(lambda now: 100 < (now["pending"] or 0) <= 400)
    assert told["total"] == 500
    household.daemon.kill()
    provider.become("ok", inputs=0)
    http = household.start(_settings(provider))
    told = household.drained()
    assert (told["pending"], told["total"], told["refused"]) == (0, 500, 0)
    # One batch may have been on its way, and there is a probe at each start.
    assert provider.counts()["inputs"] <= 432 + 2
    assert ask(http, "service number 7")["degraded"] == []
    assert _spaces(data) == [("ollama:fake-a", 384, 1)]


def test_reembed_makes_a_new_generation(household: Household, data: Path) -> None:
    """`recalld reembed --wait` makes all vectors anew; recall goes on with the old ones."""
    http = household.start({})
    remember(http, *TEXTS)
    household.drained()
    said = household.cli.ok("reembed", "--wait")
    assert f"{ROWS} of {ROWS} memories have their vector (ready)" in said
    assert household.cli.json("reembed", "--wait")["pending"] == 0
    eventually(lambda: len(_spaces(data)) == 1, within=20)
    assert ask(http, "service number 7")["degraded"] == []
