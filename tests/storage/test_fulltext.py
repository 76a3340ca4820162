"""The full-text index: what it finds, in which scope, and that it can be rebuilt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recalld.storage import analyser, fulltext, integrity
from recalld.storage.drafts import Draft
from recalld.storage.scope import Scope

from tests.storage.opened import HERE, SCOPE, THERE, Opened

BOTH = Scope([HERE, THERE])


def _find(opened: Opened, query: str, scope: Scope = SCOPE, **options: Any) -> list[str]:
    terms = analyser.tokens(query)
    hits = opened.read(lambda c: fulltext.match(c, scope, terms, **options))
    assert all(score > 0 for _, score in hits)
    assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)
    return [_ulid(opened, rid) for rid, _ in hits]


def _ulid(opened: Opened, rid: int) -> str:
    return str(
        opened.read(lambda c: c.execute("SELECT ulid FROM memories WHERE rid = ?", (rid,)).get)
    )


def test_words_are_found_with_their_endings(opened: Opened) -> None:
    """English endings do not matter, and the better match comes first."""
    better = opened.note("Migrations fail; run the migration again.")
    weaker = opened.note("A long text about many other things, and a migration, and even more.")
    opened.note("Something else.")
    assert _find(opened, "migrated migration") == [better, weaker]


def test_all_words_can_be_required(opened: Opened) -> None:
    """By default one word is enough; with `require_all` each must occur."""
    both = opened.note("red green")
    one = opened.note("red blue")
    assert set(_find(opened, "red green")) == {both, one}
    assert _find(opened, "red green", require_all=True) == [both]
    count = opened.read(lambda c: fulltext.count(c, SCOPE, ["red", "green"], require_all=True))
    assert count == 1


def test_a_phrase_keeps_its_order(opened: Opened) -> None:
    """A term with blanks is a phrase."""
    right = opened.note("the quick brown fox")
    opened.note("brown and quick")
    hits = opened.read(lambda c: fulltext.match(c, SCOPE, ["quick brown"]))
    assert [_ulid(opened, rid) for rid, _ in hits] == [right]


def test_detail_tags_actor_and_date_are_found(opened: Opened) -> None:
    """Everything a person might say about a memory leads to it."""
    ulid = opened.add(
        Draft(
            HERE, "content", detail="fineprint", tags=("deploy",), actor="Ann",
            observed_at="2026-11-29T10:00:00.000Z",
        )
    ).ulid  # fmt: skip
    for word in ("fineprint", "deploy", "ann", "november", "29 november 2026"):
        assert _find(opened, word) == [ulid]


def test_a_turn_is_found_by_the_turn_before(opened: Opened) -> None:
    """The context of a turn leads to it, and still does after an edit and a rebuild."""
    question = Draft(HERE, "Which database?", kind="conversation", session="s", turn=1)
    opened.add(question)
    answer = Draft(
        HERE, "Postgres.", kind="conversation", session="s", turn=2, context="Which database?"
    )
    ulid = opened.add(answer).ulid
    assert set(_find(opened, "database")) > {ulid}
    opened.edit(ulid, content="MariaDB.")
    assert ulid in _find(opened, "database")
    opened.write(lambda tx: fulltext.rebuild(tx.connection))
    assert ulid in _find(opened, "database")
    assert _find(opened, "mariadb") == [ulid]


@pytest.mark.parametrize("others", [1, 40])
def test_other_namespaces_are_never_found(opened: Opened, others: int) -> None:
    """The scope holds whether it is a small part of the store or nearly all of it."""
    mine = [opened.note(f"shared word {number}") for number in range(20)]
    for number in range(others):
        opened.note(f"shared word {number}", THERE)
    assert set(_find(opened, "shared")) == set(mine)
    assert len(_find(opened, "shared", limit=20)) == 20
    assert len(_find(opened, "shared", BOTH)) == 20 + others
    assert _find(opened, "shared", Scope(["project:none-22222222"])) == []


def test_text_cannot_forge_a_namespace(opened: Opened) -> None:
    """A memory whose text spells the namespace word of another is not found there."""
    opened.note("mine")
    opened.note(f"forged {fulltext.namespace_word(1)} ns1x", THERE)
    assert _find(opened, "forged") == []
    hits = opened.read(lambda c: fulltext.match(c, SCOPE, [fulltext.namespace_word(2), "forged"]))
    assert hits == []


@pytest.mark.parametrize(
    "term",
    [
        '"',
        '" OR "',
        "NEAR(",
        "*",
        "^",
        "(",
        ") OR (",
        "NOT",
        "body:",
        "\0",
        "\\",
        "🚀",
        "-",
        "\u20ac",
    ],
)
def test_terms_are_never_syntax(opened: Opened, term: str) -> None:
    """Whatever a term holds, it finds at most what it says."""
    opened.note("plain")
    assert opened.read(lambda c: fulltext.match(c, SCOPE, [term])) == []
    assert opened.read(lambda c: fulltext.match(c, SCOPE, [term], own=True)) == []
    assert opened.read(lambda c: fulltext.count(c, SCOPE, [term, ""])) == 0


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(terms=st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_no_query_fails(opened: Opened, terms: list[str]) -> None:
    """No list of terms makes a search raise."""
    opened.read(lambda c: fulltext.match(c, SCOPE, terms))
    opened.read(lambda c: fulltext.match(c, SCOPE, terms, require_all=True, own=True))
    opened.read(lambda c: [fulltext.document_frequency(c, term) for term in terms])


def test_document_frequency_counts_stems(opened: Opened) -> None:
    """A word is counted with all its endings over the whole store, a phrase as a phrase."""
    opened.note("running tests")
    opened.note("the test runs", THERE)
    frequency = {
        term: opened.read(lambda c, t=term: fulltext.document_frequency(c, t))  # type: ignore[misc]  # t is bound
        for term in ("tests", "runs", "the", "absent", "the tests")
    }
    assert frequency == {"tests": 2, "runs": 2, "the": 1, "absent": 0, "the tests": 1}


def test_common_words_are_estimated(opened: Opened) -> None:
    """The frequency of a common word is right to some ten per cent, that of a rare one exact."""
    for number in range(900):
        opened.note(f"every note {number}" + " third" * (number % 3 == 0))
    counted = opened.read(
        lambda c: [fulltext.document_frequency(c, term) for term in ("every", "third", "17")]
    )
    assert 800 <= counted[0] <= 1000
    assert 270 <= counted[1] <= 330
    assert counted[2] == 1


@pytest.mark.parametrize("case", ["cjk.json", "fts_queries.json"])
def test_shared_cases(opened: Opened, shared: Path, case: str) -> None:
    """The shared queries find what they must find."""
    cases = json.loads((shared / "cases" / case).read_text())
    ids = {opened.note(row["text"]): row["id"] for row in cases.get("stored") or cases["corpus"]}
    missed: list[str] = []
    for query in cases["queries"]:
        wanted = query.get("id") or query.get("must_find")
        if wanted and wanted not in [ids[ulid] for ulid in _find(opened, query["q"])]:
            missed.append(query["q"])
    assert missed == []


def test_a_damaged_index_is_found_and_rebuilt(opened: Opened) -> None:
    """Entries that went missing are reported by the full check, and a rebuild brings them back."""
    ulid = opened.note("needle")
    opened.write(lambda tx: fulltext.remove(tx.connection, 1))
    report = opened.write(lambda tx: integrity.full(tx.connection))
    assert report.problems == ["1 memories are missing from the full-text index"]
    assert opened.write(lambda tx: fulltext.rebuild(tx.connection)) == 1
    assert opened.write(lambda tx: integrity.full(tx.connection)).problems == []
    assert _find(opened, "needle") == [ulid]
