"""What is found, whichever index answers."""

from __future__ import annotations

import pytest
from recalld.auth.errors import BlankQuery, DeadlineExceeded
from recalld.daemon.recall import pipeline
from recalld.storage.faults import Interrupted

from tests.recall.conftest import Open
from tests.recall.remembered import OTHER, Remembered


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "?!…", '"" --'])
def test_a_blank_query_is_refused(either: Remembered, query: str) -> None:
    """A query without a single word is an error, not everything."""
    either.remember("Always use tabs in Makefiles")
    with pytest.raises(BlankQuery):
        either.ask(query)


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        ("The café in Lyon has the best coffee", "cafe"),
        ("The cafe in Lyon has the best coffee", "café"),
        ("数据库连接失败的原因是超时", "连接"),
        ("東京タワーに行った", "東京"),
        ("getUserName fails with ERR_CONN_REFUSED", "getUserName"),
        ("getUserName fails with ERR_CONN_REFUSED", "get_user_name"),
        ("getUserName fails with ERR_CONN_REFUSED", "user name"),
        ("getUserName fails with ERR_CONN_REFUSED", "ERR_CONN_REFUSED"),
        ("getUserName fails with ERR_CONN_REFUSED", "refused"),
        ("see src/auth/user_service.py:42", "user_service.py"),
        ("see src/auth/user_service.py:42", "auth"),
        ("upgrade to v1.2.3-rc1 before Friday", "v1.2.3-rc1"),
        ("tests are running in containers", "run a test container"),
    ],
)
def test_it_is_found(either: Remembered, stored: str, query: str) -> None:
    """Accents, ideographs, identifiers whole and by part, and inflected words are found."""
    either.remember("Something about gardening and the weather")
    either.remember(stored)
    assert either.found(query)[:1] == [stored]


@pytest.mark.parametrize(
    "query",
    [
        'tabs OR "',
        "tabs AND NOT makefiles",
        "NEAR(tabs makefiles)",
        "body : tabs",
        "tabs*",
        "^tabs + (makefiles",
        "tabs' ; DROP TABLE memories; --",
        'ns:"1" tabs',
        "tabs \x00 \ud800 makefiles",
    ],
)
def test_text_is_never_syntax(either: Remembered, query: str) -> None:
    """Whatever a query looks like to a search engine, its words are looked for."""
    either.remember("Always use tabs in Makefiles")
    assert either.found(query) == ["Always use tabs in Makefiles"]


def test_negation_counts(either: Remembered) -> None:
    """What must not be done is told apart from what must."""
    either.remember("Deploy the payment service by hand")
    either.remember("Do not deploy the payment service by hand")
    either.embed_all()
    assert either.found("do not deploy the payment service")[0].startswith("Do not")


def test_what_has_nothing_to_do_with_it_stays_away(either: Remembered) -> None:
    """A row without a word of the question and without a vector is no answer."""
    either.remember("Always use tabs in Makefiles")
    assert either.found("kubernetes") == []


def test_meaning_finds_what_words_do_not(either: Remembered) -> None:
    """A paraphrase without a common word comes first once vectors are there."""
    either.remember("The build is slow because the cache is cold")
    either.remember("Customers pay in euros and dollars")
    either.embed_all()
    assert either.found("compilation takes forever")[0].startswith("The build")


def test_namespaces_are_walls(either: Remembered) -> None:
    """Nothing outside the scope is found, by words or by meaning."""
    either.remember("The secret of the other project", OTHER)
    either.embed_all()
    assert either.found("secret of the other project") == []
    assert either.found("secret", namespaces=(OTHER,)) == ["The secret of the other project"]


def test_several_namespaces_are_searched_together(either: Remembered) -> None:
    """One ranking over all namespaces of the scope."""
    either.remember("Deploys happen on Tuesday")
    either.remember("Deploys of the website happen on Tuesday after lunch", OTHER)
    both = either.found("deploys of the website", namespaces=(OTHER, "project:test-00000001"))
    assert both == [
        "Deploys of the website happen on Tuesday after lunch",
        "Deploys happen on Tuesday",
    ]


@pytest.mark.parametrize(("limit", "expected"), [(-3, 1), (0, 1), (2, 2), (1000, 30)])
def test_the_limit_is_clamped(either: Remembered, limit: int, expected: int) -> None:
    """At least one hit is asked for and at most a hundred."""
    for number in range(30):
        either.remember(f"release note {number}")
    assert len(either.ask("release", limit=limit).hits) == expected


def test_equal_texts_are_one_answer(either: Remembered) -> None:
    """The same note in two namespaces is shown once."""
    either.remember("Always use tabs")
    either.remember("always  use TABS", OTHER)
    assert len(either.found("tabs", namespaces=(OTHER, "project:test-00000001"))) == 1


def test_a_quoted_phrase_comes_first(either: Remembered) -> None:
    """Who quotes means it: the words in that order beat the same words elsewhere."""
    either.remember("pool connection connection pool pool exhausted? the pool of the connection")
    either.remember("a very long remark in which, after all, the connection pool is mentioned once")
    assert either.found('"the connection pool"')[0].startswith("a very long remark")


def test_waiting_for_a_turn_ends_with_the_time(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all turns at the interpreter are taken, a recall waits no longer than it may take."""
    monkeypatch.setattr(pipeline, "COMPUTING", 0)
    memory = opened()
    memory.remember("waits for its turn")
    with pytest.raises(DeadlineExceeded):
        memory.ask("turn", seconds=0.2)


def test_time_is_up(either: Remembered) -> None:
    """A recall without time ends with an error instead of an answer."""
    either.remember("Always use tabs")
    with pytest.raises((DeadlineExceeded, Interrupted)):
        either.ask("tabs", seconds=0.0)


def test_explanations_add_up(either: Remembered) -> None:
    """What every signal contributed sums to the score, strongest first."""
    either.remember("Always use tabs in Makefiles")
    either.remember("Customers pay in euros and dollars")
    either.remember("The café in Lyon has the best coffee")
    either.embed_all()
    hit = either.ask("tabs in makefiles", explain=True).hits[0]
    assert hit.why is not None
    assert sum(hit.why.values()) == pytest.approx(hit.score, abs=0.01)
    assert {"words", "meaning"} <= set(hit.why)
    assert list(hit.why.values()) == sorted(hit.why.values(), key=lambda v: -abs(v))
    assert either.ask("tabs").hits[0].why is None


def test_a_budget_takes_whole_items(either: Remembered) -> None:
    """Hits are packed into the tokens allowed, and a small one may follow one too big."""
    either.remember("tabs " * 100)
    either.remember("Always use tabs in Makefiles")
    either.remember("tabs again")
    packed = either.found("tabs", budget=40)
    assert sorted(packed) == ["Always use tabs in Makefiles", "tabs again"]
    assert either.found("tabs", budget=1) == []
