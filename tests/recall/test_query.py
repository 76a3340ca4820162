"""What is read out of a question before anything is searched."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.auth.errors import BlankQuery
from recalld.daemon.recall.dates import Period, resolve
from recalld.daemon.recall.query import analyse

# A Wednesday.
NOW = int(datetime(2026, 3, 18, 15, 30, tzinfo=UTC).timestamp() * 1000)


def _days(period: Period | None) -> tuple[str, str]:
    assert period is not None
    start, end = (datetime.fromtimestamp(at / 1000, tz=UTC) for at in (period.start, period.end))
    return start.date().isoformat(), end.date().isoformat()


def test_stop_words_go_and_negation_stays() -> None:
    """Words without a topic are left out, unless there are no others."""
    assert analyse("How do I not deploy without tests?", NOW).words == (
        "not",
        "deploy",
        "without",
        "tests",
    )
    assert analyse("what is that", NOW).words == ("what", "is", "that")


def test_phrases() -> None:
    """What stands in any kind of quotation marks is a phrase, in lower case and single blanks."""
    asked = analyse('find "Connection  Pool" and “retry limit” in `main.py`', NOW)
    assert asked.phrases == ("connection pool", "retry limit", "main.py")
    assert analyse('an open " quote', NOW).phrases == ()


def test_names_of_speakers() -> None:
    """The one speaker named is asked about, and its name is no topic."""
    actors = frozenset({"anna", "ann", "jean-luc"})
    asked = analyse("When did Anna's brother visit?", NOW, actors)
    assert asked.name == "anna"
    assert "anna" not in asked.words
    assert asked.semantic == "When did brother visit?"
    assert analyse("Jean-Luc said what to Anna?", NOW, actors).name is None
    assert analyse("Annabel was here", NOW, actors).name is None
    assert analyse("Anna", NOW, actors).words == ("anna",)


def test_kinds_of_questions() -> None:
    """Questions about times and about numbers are told apart from others."""
    assert analyse("When was the release?", NOW).asks_when
    assert analyse("how many retries are allowed", NOW).asks_count
    plain = analyse("whenever builds fail", NOW)
    assert not plain.asks_when
    assert not plain.asks_count


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("the outage on 2025-07-04", "2025-07-04", "2025-07-05"),
        ("what happened in 2025-07", "2025-07-01", "2025-08-01"),
        ("meeting of 4 July 2025", "2025-07-04", "2025-07-05"),
        ("meeting of July 4th, 2025", "2025-07-04", "2025-07-05"),
        ("decisions in December 2025", "2025-12-01", "2026-01-01"),
        ("in may 2025 we decided", "2025-05-01", "2025-06-01"),
        ("everything of 2024", "2024-01-01", "2025-01-01"),
        ("what did I do yesterday", "2026-03-17", "2026-03-18"),
        ("today's errors", "2026-03-18", "2026-03-19"),
        ("deploys last week", "2026-03-09", "2026-03-16"),
        ("deploys this week", "2026-03-16", "2026-03-23"),
        ("releases last month", "2026-02-01", "2026-03-01"),
        ("releases this month", "2026-03-01", "2026-04-01"),
        ("plans of last year", "2025-01-01", "2026-01-01"),
        ("two days ago", "2026-03-16", "2026-03-17"),
        ("about 3 weeks ago", "2026-02-22", "2026-03-04"),
    ],
)
def test_dates(text: str, start: str, end: str) -> None:
    """Absolute and relative dates become a period."""
    assert _days(resolve(text, NOW)) == (start, end)


def test_months_without_a_year() -> None:
    """A month alone means that month of any year; the verb `may` is none."""
    assert resolve("what happened in June?", NOW) == Period(0, 0, 6, True)
    assert resolve("what may fail", NOW) is None
    assert resolve("what may fail in May", NOW) == Period(0, 0, 5, True)


@pytest.mark.parametrize(
    "text", ["2025-13-45", "31 February 2025", "999 weeks ago", "version 1999x"]
)
def test_impossible_dates(text: str) -> None:
    """Numbers that look like dates but are none break nothing."""
    resolve(text, NOW)


@given(st.text(max_size=300))
def test_any_text_is_a_query_or_blank(text: str) -> None:
    """Whatever the text, it has words to look for or is refused as blank."""
    try:
        asked = analyse(text, NOW, frozenset({"anna", "(", "a.b"}))
    except BlankQuery:
        return
    assert asked.words
    assert len(asked.words) <= 64
