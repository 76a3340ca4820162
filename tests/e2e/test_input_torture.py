"""Texts, numbers and queries that break naive software: never a 5xx, always found again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness.daemons import Daemon
from tests.harness.http import Http


def cases(shared: Path, name: str) -> Any:
    """One file of the shared cases."""
    return json.loads((shared / "cases" / f"{name}.json").read_text(encoding="utf-8"))


def mended(text: str) -> str:
    """The text as it must come back: surrogate pairs joined, lone ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def store_raw(http: Http, content: str) -> tuple[int, str]:
    """Store with the escapes a careless client would send; returns status and id."""
    raw = json.dumps({"content": content}, ensure_ascii=True).encode()
    reply = http.send("POST", "/v1/memories", raw=raw, headers={"Content-Type": "application/json"})
    return reply.status, str(reply.json.get("id", ""))


def test_texts_round_trip(shared: Path, http: Http) -> None:
    """Every text is stored as it is, with lone surrogates replaced, or refused with a 4xx."""
    for case in cases(shared, "texts"):
        if "text" not in case:
            continue
        text = str(case["text"])
        status, ident = store_raw(http, text)
        assert status < 500, case["id"]
        if status < 300:
            got = http.get(f"/v1/memories/{ident}").json["content"]
            assert got == mended(text), case["id"]
            if text.strip():
                assert http.post("/v1/recall", {"query": text[:2000]}).status < 500


def test_a_text_over_the_limit_is_refused(http: Http) -> None:
    """One word of 300,000 letters is too large, and says so."""
    reply = http.post("/v1/memories", {"content": "y" * 300_000})
    assert (reply.status, reply.code) == (413, "payload_too_large")


NUMBER_FIELDS = [
    ("/v1/recall", '{"query": "x", "limit": %s}'),
    ("/v1/recall", '{"query": "x", "budget": %s}'),
    ("/v1/recall", '{"query": "x", "timeout_ms": %s}'),
    ("/v1/search", '{"query": "x", "offset": %s}'),
    ("/v1/search", '{"query": "x", "limit": %s}'),
    ("/v1/memories", '{"content": "x", "importance": %s}'),
]


@pytest.mark.parametrize(("path", "template"), NUMBER_FIELDS)
def test_numbers_are_taken_or_refused(shared: Path, http: Http, path: str, template: str) -> None:
    """Every odd number in every number field is taken or refused with a 4xx."""
    for case in cases(shared, "numbers"):
        raw = case["raw"] if "raw" in case else str(eval(case["generate"], {"__builtins__": {}}))
        body = (template % raw).encode()
        reply = http.send("POST", path, raw=body, headers={"Content-Type": "application/json"})
        assert reply.status < 500, (raw[:40], reply.body[:300])
        if "generate" in case:
            assert 400 <= reply.status < 500, raw[:40]
    assert http.get("/v1/health").status == 200


@pytest.mark.parametrize("parameter", ["limit"])
def test_numbers_in_the_query_string_are_taken_or_refused(
    shared: Path, http: Http, parameter: str
) -> None:
    """The same numbers in a URL are taken or refused with a 4xx."""
    for case in cases(shared, "numbers"):
        if "raw" in case and " " not in case["raw"]:
            reply = http.get(f"/v1/memories?{parameter}={case['raw'].replace(chr(34), '%22')}")
            assert reply.status < 500, case
    for cursor in ("x", "1", "-1", "%00", "%ff", "A" * 4000, "MQ%3D%3D", "eyJhIjoxfQ"):
        assert http.get(f"/v1/memories?cursor={cursor}").status in {200, 400}, cursor


def found(http: Http, query: str, path: str = "/v1/recall") -> tuple[int, set[str]]:
    """Status and contents of the hits of one query."""
    reply = http.post(path, {"query": query, "limit": 50})
    hits = reply.json.get("hits", [])
    return reply.status, {hit["content"] for hit in hits}


def test_queries_find_what_they_must(shared: Path, http: Http) -> None:
    """No query is syntax: operators, quotes and paths find the row that contains them."""
    file = cases(shared, "fts_queries")
    texts = {row["id"]: row["text"] for row in file["corpus"]}
    for text in texts.values():
        http.store(text)
    missing: list[str] = []
    for case in file["queries"]:
        status, contents = found(http, case["q"])
        assert status < 500, case
        if not case["q"].strip():
            assert status == 400, case
        wanted = case.get("must_find")
        if wanted and texts[wanted] not in contents:
            missing.append(case["q"])
        assert found(http, case["q"], "/v1/search")[0] < 500, case
    assert missing == []


def test_cjk_is_found(shared: Path, http: Http) -> None:
    """Chinese, Japanese, Korean and Thai are found by any word of two characters or more."""
    file = cases(shared, "cjk")
    texts = {row["id"]: row["text"] for row in file["stored"]}
    for text in texts.values():
        http.store(text)
    missing = [q["q"] for q in file["queries"] if texts[q["id"]] not in found(http, q["q"])[1]]
    assert missing == []


def test_accents_do_not_hide_anything(http: Http) -> None:
    """`cafe` finds `café`, and the other way round, composed or not."""
    http.store("Meeting notes from the café on Tuesday")
    http.store("resume of the candidate")
    assert "Meeting notes from the café on Tuesday" in found(http, "cafe", "/v1/search")[1]
    assert "Meeting notes from the café on Tuesday" in found(http, "cafe\u0301", "/v1/search")[1]
    assert "resume of the candidate" in found(http, "résumé", "/v1/search")[1]


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\u3000", "\u200b", "\u00a0"])
def test_a_blank_query_is_an_error(http: Http, query: str) -> None:
    """Nothing to look for is an error, not everything."""
    http.store("something")
    reply = http.post("/v1/recall", {"query": query})
    assert reply.status == 400, reply
    assert reply.code in {"blank_query", "invalid_request"}


def test_negation_survives(http: Http) -> None:
    """What was forbidden is recalled as forbidden, word for word."""
    text = "Never deploy on Friday; do NOT use --force, and don't skip the tests."
    http.store(text)
    assert text in found(http, "may I deploy on friday?")[1]
    assert text in found(http, "do not use --force")[1]


@pytest.mark.parametrize(
    "name", ["a b", "проект", "-lead", "Open Source", "ünïcode", "a'b", "$(x)"]
)
def test_odd_folder_names_get_their_own_namespace(
    http: Http, daemon: Daemon, tmp_path: Path, name: str
) -> None:
    """A checkout in any folder gets a valid namespace of its own."""
    folder = tmp_path / name
    folder.mkdir()
    granted = daemon.grant(checkout=str(folder))
    own = [ns for ns in granted["namespaces"] if ns.startswith("project:")]
    assert len(own) == 1
    client = http.as_token(granted["token"])
    client.store("only here")
    assert found(client, "only here")[1] == {"only here"}
    assert found(http, "only here")[1] == set()


def test_similar_paths_never_share_a_namespace(
    shared: Path, daemon: Daemon, tmp_path: Path
) -> None:
    """Folders whose names differ only in punctuation are different projects."""
    seen: dict[str, str] = {}
    for case in cases(shared, "paths")["cases"]:
        relative = str(case["cwd"]).strip("/").replace("\\", "_") or "root"
        folder = tmp_path / "paths" / relative
        folder.mkdir(parents=True, exist_ok=True)
        for namespace in daemon.grant(checkout=str(folder))["namespaces"]:
            if namespace.startswith("project:"):
                assert seen.setdefault(namespace, str(folder)) == str(folder)
    assert len(seen) >= 15
