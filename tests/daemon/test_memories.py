"""The life of a memory over HTTP: store, list, show, edit, forget, history, undo."""

from __future__ import annotations

import pytest

from tests.daemon.started import Started
from tests.harness.http import Http

NO_SUCH_ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def test_a_stored_memory_is_shown_whole(client: Http) -> None:
    """Every field comes back as it was sent, times in UTC with milliseconds."""
    sent = {
        "content": "use tabs",
        "kind": "preference",
        "detail": "the linter insists",
        "tags": ["style", "go"],
        "importance": 0.9,
        "source": {"agent": "codex", "session": "s1", "tool": "edit", "files": ["a.go"]},
        "observed_at": "2026-01-31T13:00:00+01:00",
        "valid_from": "2026-01-31",
    }
    reply = client.post("/v1/memories", sent)
    assert reply.status == 201
    stored = reply.json
    assert stored["result"] == "stored"
    assert stored["version"] == 1

    shown = client.get(f"/v1/memories/{stored['id']}").json
    changed = {"observed_at": "2026-01-31T12:00:00.000Z", "valid_from": "2026-01-31T00:00:00.000Z"}
    assert shown == shown | sent | changed
    assert shown["namespace"] == stored["namespace"]
    assert shown["status"] == "active"


def test_the_same_text_twice_is_one_memory(client: Http) -> None:
    """A duplicate is 200, has the first one's id, and counts as evidence."""
    first = client.post("/v1/memories", {"content": "the build needs node 22"})
    second = client.post("/v1/memories", {"content": "the build needs node 22"})
    assert (first.status, second.status) == (201, 200)
    assert second.json == {**first.json, "result": "duplicate"}
    assert client.get(f"/v1/memories/{first.json['id']}").json["evidence"] == 2


def test_superseding_retires_the_old_one(client: Http) -> None:
    """The successor names its predecessor, and the other way round."""
    old = client.store("port 8080")
    reply = client.post("/v1/memories", {"content": "port 9090", "supersedes": old})
    assert reply.json["result"] == "superseded"
    retired = client.get(f"/v1/memories/{old}").json
    assert (retired["status"], retired["superseded_by"]) == ("superseded", reply.json["id"])
    missing = client.post("/v1/memories", {"content": "port 1", "supersedes": NO_SUCH_ID})
    assert missing.code == "not_found"


def test_pages_are_complete_and_without_repetition(client: Http) -> None:
    """Following the cursor visits every memory once, newest first."""
    ids = [client.store(f"item {n}", tags=["even"] if n % 2 == 0 else []) for n in range(7)]
    seen: list[str] = []
    cursor = ""
    while True:
        page = client.get(f"/v1/memories?limit=3{cursor}").json
        seen += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == ids[::-1]
    even = client.get("/v1/memories?tag=even").json["items"]
    assert [item["id"] for item in even] == ids[::-2]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "limit=1_0", "limit=١", "limit=1&limit=2", "cursor=%00", "cursor=x",
     "kind=secret", "status=gone", "since=x", "surprise=1", "namespace=", "limit", "a=%ff"],
)  # fmt: skip
def test_odd_queries_are_refused(client: Http, query: str) -> None:
    """Query parameters are as strict as bodies."""
    client.store("something to list")
    reply = client.send("GET", "/v1/memories?" + query.replace("١", "%D9%A1"))
    assert reply.status in {400, 403}, reply


def test_an_edit_makes_a_version(client: Http) -> None:
    """Only what is named changes; if_version protects against the other editor."""
    ulid = client.store("draft", detail="old", tags=["a"])
    changes = {"content": "final", "detail": None, "if_version": 1}
    after = client.call("PATCH", f"/v1/memories/{ulid}", changes).json
    assert (after["content"], after["detail"], after["tags"]) == ("final", None, ["a"])
    assert after["version"] == 2
    late = client.call("PATCH", f"/v1/memories/{ulid}", changes)
    assert (late.status, late.code) == (409, "conflict")


@pytest.mark.parametrize(
    "changes", [{}, {"if_version": 1}, {"content": None}, {"status": "superseded"}, {"tags": None}]
)
def test_an_edit_that_makes_no_sense_is_refused(client: Http, changes: dict[str, object]) -> None:
    """Nothing to change, or a field that cannot be emptied, is the client's mistake."""
    ulid = client.store("steady")
    reply = client.call("PATCH", f"/v1/memories/{ulid}", changes)
    assert (reply.status, reply.code) == (400, "invalid_request")


def test_forgetting_can_be_undone(client: Http) -> None:
    """A forgotten memory is gone, its history is not, and undo brings it back."""
    ulid = client.store("precious")
    gone = client.call("DELETE", f"/v1/memories/{ulid}")
    assert gone.json["result"] == "forgotten"
    assert client.get(f"/v1/memories/{ulid}").code == "not_found"
    assert client.call("DELETE", f"/v1/memories/{ulid}").code == "not_found"

    back = client.call("POST", f"/v1/memories/{ulid}/undo").json
    assert (back["content"], back["id"]) == ("precious", ulid)
    versions = client.get(f"/v1/memories/{ulid}/history").json["versions"]
    assert [entry["op"] for entry in versions] == ["store", "forget", "undo"]


def test_undoing_beyond_the_first_state(client: Http) -> None:
    """It is the request that makes no sense, whatever number the version has by then."""
    ulid = client.store("new")
    for _ in range(2):
        refused = client.call("POST", f"/v1/memories/{ulid}/undo")
        assert (refused.status, refused.code) == (400, "invalid_request")
        assert "as it was first stored" in refused.json["error"]["message"]
        assert refused.json["error"]["hint"]
        client.call("PATCH", f"/v1/memories/{ulid}", {"content": "newer"})
        back = client.call("POST", f"/v1/memories/{ulid}/undo").json
        assert (back["content"], back["version"] > 2) == ("new", True)


def test_a_long_history_comes_in_pages(client: Http) -> None:
    """At most a hundred versions at once; the cursor goes on, and a made-up one is refused."""
    ulid = client.store("0")
    for number in range(1, 120):
        client.call("PATCH", f"/v1/memories/{ulid}", {"content": f"{number}"})
    path = f"/v1/memories/{ulid}/history"
    first = client.get(path).json
    rest = client.get(f"{path}?cursor={first['next_cursor']}").json
    assert (len(first["versions"]), len(rest["versions"])) == (100, 20)
    assert rest["next_cursor"] is None
    told = [entry["content"] for entry in first["versions"] + rest["versions"]]
    assert told == [f"{number}" for number in range(120)]
    for wrong in ("cursor=x", "cursor=-1", "limit=0", "limit=101"):
        assert client.get(f"{path}?{wrong}").code == "invalid_request"


@pytest.mark.parametrize("ulid", [NO_SUCH_ID, "x", "..%2f..%2fetc%2fpasswd", "%00", "ü"])
def test_unknown_ids_are_not_found(client: Http, ulid: str) -> None:
    """An id that exists nowhere and one that cannot exist get the same answer."""
    for method, path in [("GET", ""), ("GET", "/history"), ("DELETE", ""), ("POST", "/undo")]:
        reply = client.call(method, f"/v1/memories/{ulid.replace('ü', '%C3%BC')}{path}")
        assert (reply.status, reply.code) == (404, "not_found"), (method, path)


def test_search_wants_every_word(client: Http) -> None:
    """Search finds rows with all the words, filters and pages; user text is never syntax."""
    ids = [client.store(f"alpha beta number {n}") for n in range(5)]
    client.store("alpha alone", kind="solution")
    found = client.post("/v1/search", {"query": "alpha beta", "limit": 2, "offset": 1}).json
    assert found["total"] == 5
    assert len(found["hits"]) == 2
    assert {hit["id"] for hit in found["hits"]} <= set(ids)
    only = client.post("/v1/search", {"query": "alpha", "kinds": ["solution"]}).json
    assert [hit["content"] for hit in only["hits"]] == ["alpha alone"]
    for query in ('alpha OR "', "NEAR(alpha)", "body:alpha*", "(", '"', "-alpha", "%"):
        assert client.post("/v1/search", {"query": query}).status == 200, query


def test_search_looks_at_what_a_memory_says_itself(client: Http) -> None:
    """Text, detail, tags and speaker count; the turn before, the role and the date do not."""
    turns = [
        {"text": "Where does the user find zanzibar?", "speaker": "Ann", "role": "user"},
        {"text": "Near Bob", "speaker": "Cy", "role": "user", "at": "2026-05-07"},
        {"text": "No, in May", "speaker": "Bob", "role": "user"},
    ]
    client.post("/v1/conversations", {"session": "s1", "turns": turns})
    client.store("noted", detail="fineprint 2031", tags=["7 tags"])

    def found(query: str) -> set[str]:
        answer = client.post("/v1/search", {"query": query}).json
        assert answer["total"] == len(answer["hits"])
        return {str(hit["content"]) for hit in answer["hits"]}

    first, second, third = (turn["text"] for turn in turns)
    assert found("zanzibar") == found("user") == found("ann zanzibar") == {first}
    assert found("bob") == {second, third}
    assert found("bob may") == {third}
    assert found("cy near") == {second}
    assert found("7") == found("2031") == found("fineprint tags") == {"noted"}
    assert found("cy zanzibar") == found("cy user") == found("2026") == set()
    assert second in {hit["content"] for hit in client.recall("zanzibar")}


def test_a_blank_query_finds_nothing_and_says_so(client: Http) -> None:
    """Blank is refused by recall and search alike; everything would be a lie."""
    for path in ("/v1/recall", "/v1/search"):
        assert client.post(path, {"query": " \n"}).code == "blank_query"


def test_recall_answers_with_hits_and_reasons(client: Http) -> None:
    """The fitting memory comes first; explain says why."""
    wanted = client.store("We deploy with blue-green releases on Fridays")
    client.store("The office plant needs water")
    hits = client.recall("how do we deploy?", explain=True, limit=2)
    assert hits[0]["id"] == wanted
    assert hits[0]["why"]
    shape = {"id", "namespace", "kind", "content", "tags", "score", "created_at"}
    assert set(hits[0]) == shape | {"why"}


def test_a_batch_is_judged_item_by_item(client: Http) -> None:
    """One bad item leaves its error in its place; the others are stored."""
    items: list[object] = [
        {"content": "first"},
        {"content": ""},
        {"content": "x", "supersedes": NO_SUCH_ID},
        {"content": "y", "namespace": "org:elsewhere"},
        {"content": "first"},
        {"content": "z" * 65_537},
        {"content": "last"},
    ]
    results = client.post("/v1/memories/batch", {"items": items}).json["results"]
    told = [r["error"]["code"] if "error" in r else r["result"] for r in results]
    assert told == [
        "stored", "invalid_request", "not_found", "forbidden", "duplicate", "payload_too_large",
        "stored",
    ]  # fmt: skip
    assert len(client.get("/v1/memories").json["items"]) == 2


def test_conversations_continue_where_they_were(client: Http) -> None:
    """Turns are kept word for word, in order, also when the same thing is said twice."""
    for texts in (["hello", "hello"], ["and again"]):
        turns = [{"text": text, "speaker": "ann", "role": "user"} for text in texts]
        reply = client.post("/v1/conversations", {"session": "s1", "turns": turns})
        assert [r["result"] for r in reply.json["results"]] == ["stored"] * len(texts)
    items = client.get("/v1/memories?kind=conversation").json["items"]
    assert [item["content"] for item in items] == ["and again", "hello", "hello"]


def test_a_turn_says_who_said_it_and_when(client: Http) -> None:
    """Speaker, role, session and the turn's own date are given back by every way to a turn."""
    turn = {"text": "Ship it", "speaker": "Bob", "role": "user", "at": "2026-05-01T09:00:00Z"}
    stored = client.post("/v1/conversations", {"session": "s1", "turns": [turn]}).json["results"]
    ulid = stored[0]["id"]
    told = {
        "speaker": "Bob",
        "role": "user",
        "session": "s1",
        "observed_at": "2026-05-01T09:00:00.000Z",
    }
    found = client.post("/v1/search", {"query": "ship"}).json["hits"]
    listed = client.get("/v1/memories").json["items"]
    past = client.get(f"/v1/memories/{ulid}/history").json["versions"]
    shown = client.get(f"/v1/memories/{ulid}").json
    for memory in (client.recall("ship")[0], found[0], listed[0], past[0], shown):
        assert memory["id"] == ulid
        assert {name: memory.get(name) for name in told} == told


def test_a_note_has_no_speaker(client: Http) -> None:
    """What is no turn answers null, and leaves it out of hits; its source keeps its session."""
    ulid = client.store("Ship on Mondays", source={"session": "s1"})
    shown = client.get(f"/v1/memories/{ulid}").json
    assert [shown[name] for name in ("speaker", "role", "session", "observed_at")] == [None] * 4
    assert shown["source"] == {"session": "s1"}
    assert not {"speaker", "role", "session", "observed_at"} & set(client.recall("ship")[0])


def test_text_survives_as_it_is(client: Http) -> None:
    """Bidi marks, zero widths, CR and templates round-trip; NUL and half an emoji are replaced."""
    kept = "one\rtwo \u202eabc\u202c a\u200bb {{7*7}} ${HOME} %s \ufeff \U0001f680"
    assert client.get(f"/v1/memories/{client.store(kept)}").json["content"] == kept
    ulid = client.store("a\x00b \ud83d c")
    assert client.get(f"/v1/memories/{ulid}").json["content"] == "a\ufffdb \ufffd c"


def test_status_and_stats_show_the_grants_own_view(served: Started, client: Http) -> None:
    """A grant sees counts of its namespaces; the owner sees the whole."""
    client.store("counted")
    client.store("counted too", kind="solution")
    status = client.get("/v1/status").json
    assert (status["memories"], status["pid"]) == (2, served.process.pid)
    assert status["namespaces"] == 1
    first = client.get("/v1/stats").json["namespaces"][0]
    assert (first["memories"], first["kinds"]) == (2, {"note": 1, "solution": 1})
    assert status["quarantined"] == 0
    assert served.owner().get("/v1/status").json["memories"] >= 2
