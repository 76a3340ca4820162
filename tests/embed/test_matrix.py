"""What is missing, and where one sees it: in `degraded` of an answer and in the status."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tests.embed.conftest import Provide
from tests.embed.providing import NAMESPACE, Household, ask, contents, remember
from tests.harness.waiting import eventually

TEXT = "Indent Makefiles with tab characters"


def test_no_model(household: Household) -> None:
    """Without an embedder words answer; that was asked for, so nothing is degraded."""
    http = household.start({"embedder": "none"})
    remember(http, TEXT)
    answer = ask(http, "makefiles")
    assert (contents(answer), answer["degraded"]) == ([TEXT], [])
    assert household.embedding()["state"] == "off"


def test_a_broken_model(household: Household, tmp_path: Path) -> None:
    """With a model that cannot be loaded words answer, and both places say why."""
    settings = {"embedder": "onnx", "embed_model": str(tmp_path / "nothing")}
    http = household.start(settings)
    remember(http, TEXT)
    answer = ask(http, "makefiles")
    assert (contents(answer), answer["degraded"]) == ([TEXT], ["vectors_unavailable"])
    told = household.until(lambda now: now["state"] == "failed")
    assert "no model.onnx" in told["last_error"]
    assert told["pending"] == 1


def test_vectors_behind(household: Household, provide: Provide) -> None:
    """While rows wait for their vectors the answer says so, and the status how many."""
    provider = provide()
    settings = {"embedder": "ollama", "embed_model": "fake-a", "embed_url": provider.url}
    http = household.start(settings)
    household.drained()
    provider.become("slow=0.2")
    remember(http, TEXT)
    eventually(lambda: "vectors_behind" in ask(http, "makefiles")["degraded"], within=20)
    provider.become("ok")
    household.drained()
    eventually(lambda: ask(http, "makefiles")["degraded"] == [], within=20)


@pytest.mark.parametrize("found_by", ["start", "search"])
def test_a_damaged_word_index_is_rebuilt(household: Household, data: Path, found_by: str) -> None:
    """A damaged full-text index is found, written anew, and searched again."""
    http = household.start({})
    remember(http, *(f"{TEXT} take {n}" for n in range(200)))
    if found_by == "start":
        household.daemon.terminate()
    _damage(data)
    if found_by == "start":
        http = household.start({})
    body = {"query": "makefiles", "namespaces": [NAMESPACE]}
    eventually(lambda: len(http.post("/v1/search", body).json.get("hits", ())) > 0, within=30)
    status = household.daemon.owner()
    eventually(lambda: status.get("/v1/status").json["words"] == "ok", within=20)
    assert "full-text index is damaged" in household.daemon.log()


def _damage(data: Path) -> None:
    """Take the leaves of the full-text index away."""
    connection = apsw.Connection(str(data / "memory.db"))
    try:
        connection.set_busy_timeout(10_000)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        connection.execute("DELETE FROM fts_data WHERE id > 10")
    finally:
        connection.close()
