"""An embedder that gives no vectors: every place says so, what serves meanwhile, and the remedy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.embed.conftest import Provide
from tests.embed.providing import Household, Provider, ask, contents, free_port, remember
from tests.harness.jsontypes import JsonObject
from tests.harness.waiting import eventually

TEXT = "Indent Makefiles with tab characters"
PARAPHRASE = "whitespace at the start of build recipe lines"


def _failing(kind: str, folder: Path) -> dict[str, object]:
    """Settings of an embedder that cannot be had."""
    if kind == "onnx":
        return {"embedder": "onnx", "embed_model": str(folder / "nothing")}
    url = f"http://127.0.0.1:{free_port()}"
    return {"embedder": kind, "embed_model": "m", "embed_url": url}


def _working(provider: Provider) -> dict[str, object]:
    return {"embedder": "ollama", "embed_model": "fake-a", "embed_url": provider.url}


def _vectors(household: Household) -> JsonObject:
    """What doctor says of the vectors, and nothing is wrong elsewhere."""
    checks: list[JsonObject] = household.cli.json("doctor")["checks"]
    assert {check["name"] for check in checks if check["state"] == "warning"} <= {"vectors"}
    return next(check for check in checks if check["name"] == "vectors")


@pytest.mark.parametrize("kind", ["onnx", "ollama", "openai"])
@pytest.mark.parametrize("older", [True, False])
def test_every_place_says_what_is_true(
    household: Household, tmp_path: Path, data: Path, kind: str, older: bool
) -> None:
    """doctor, status, recall and reembed: no vectors are made, why, what serves and what to do."""
    http = household.start({"embedder": "static" if older else "none"})
    remember(http, TEXT)
    if older:
        household.drained()
    household.daemon.terminate()
    http = household.start(_failing(kind, tmp_path))
    told = household.until(lambda now: now["state"] == "failed")
    serving = "static-minilm-256" if older else None
    assert (told["embedder"], told["serving"], told["pending"]) == (kind, serving, 1)

    meanwhile = (
        "recall goes on with older vectors (static-minilm-256)"
        if older
        else "recall goes by words only"
    )
    check = _vectors(household)
    assert check["state"] == "warning"
    assert str(check["seen"]).endswith(f"1 of 1 memories wait for theirs, {meanwhile}.")
    assert f"in {data / 'config.toml'} and run: recalld restart" in check["fix"]

    lines = household.cli.ok("status").splitlines()
    shown = dict(line.split(": ", 1) for line in lines)
    assert meanwhile in shown["embedding"]
    assert str(data / "config.toml") in shown["embedding"]
    assert shown["last error"] == told["last_error"]
    assert household.cli.json("status")["last_error"] == told["last_error"]

    answer = ask(http, PARAPHRASE if older else "makefiles")
    assert answer["degraded"] == ["embedding_failed" if older else "vectors_unavailable"]
    assert contents(answer) == [TEXT]

    for words in (("reembed",), ("reembed", "--wait", "--timeout", "2")):
        done = household.cli(*words)
        assert (done.returncode, done.stdout) == (75, ""), done
        assert str(told["last_error"]) in done.stderr
        assert "0 of 1 memories" in done.stderr
        assert str(data / "config.toml") in done.stderr


def test_words_are_said_to_be_alone_where_old_vectors_cannot_be_asked(
    household: Household, provide: Provide
) -> None:
    """All memories have their vector, but with the provider gone no question gets one."""
    provider = provide()
    settings = _working(provider) | {"embed_dimension": 384}
    remember(household.start(settings), TEXT)
    household.drained()
    household.daemon.terminate()
    provider.end()
    http = household.start(settings)
    told = household.until(lambda now: now["state"] == "failed")
    assert (told["serving"], told["questions"]) == (None, "failing")
    assert "recall goes by words only" in _vectors(household)["seen"]
    assert ask(http, "makefiles")["degraded"] == ["vectors_unavailable"]


def test_what_is_over_is_not_said_any_more(household: Household, provide: Provide) -> None:
    """Once the provider answers, reembed succeeds and every place is content again."""
    provider = provide()
    remember(household.start({"embedder": "static"}), TEXT)
    household.drained()
    household.daemon.terminate()
    provider.become("http=500")
    http = household.start(_working(provider))
    eventually(lambda: ask(http, PARAPHRASE)["degraded"] == ["embedding_failed"], within=20)
    provider.become("ok")
    assert "1 of 1 memories have their vector (ready)" in household.cli.ok("reembed", "--wait")
    eventually(lambda: ask(http, "makefiles")["degraded"] == [], within=20)
    assert household.cli.json("status")["last_error"] is None
    check = _vectors(household)
    assert check["state"] == "ok"
    assert check["seen"] == "ollama:fake-a is ready: 1 of 1 memories have their vector."
    provider.become("http=500")
    assert household.cli("reembed").returncode == 75
    assert "recall goes" in _vectors(household)["seen"]
    provider.become("ok")
    assert household.cli("reembed", "--wait").returncode == 0


def test_waiting_in_vain_is_no_success(household: Household, provide: Provide) -> None:
    """Where time is up before every memory has its vector, that is what the exit code says."""
    provider = provide()
    remember(household.start(_working(provider)), TEXT)
    household.drained()
    provider.become("slow=10")
    done = household.cli("reembed", "--wait", "--timeout", "3")
    assert done.returncode == 75
    assert "not done yet: 0 of 1 memories" in done.stderr
    assert "--timeout" in done.stderr


def test_nothing_to_embed_with(household: Household) -> None:
    """Where vectors are switched off, reembed says so instead of how many it has made."""
    remember(household.start({"embedder": "none"}), TEXT)
    done = household.cli("reembed", "--json")
    assert done.returncode == 64
    assert 'embedder is "none"' in json.loads(done.stdout)["error"]["message"]
    assert "switched off" in household.cli.ok("status")
    assert _vectors(household)["state"] == "ok"


def test_what_is_being_loaded_is_named(household: Household) -> None:
    """Right after a restart the line names the embedder, loaded or not."""
    household.start({})
    household.cli.ok("restart")
    lines = household.cli.ok("status").splitlines()
    (said,) = [line for line in lines if line.startswith("embedding: ")]
    assert said.startswith(("embedding: layered is being loaded", "embedding: layered (static-"))
