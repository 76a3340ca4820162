"""How signals become one order."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime

import numpy as np
import pytest
from recalld.daemon.recall.budget import tokens_of
from recalld.daemon.recall.candidates import Candidates
from recalld.daemon.recall.dates import Period
from recalld.daemon.recall.facts import facts_of
from recalld.daemon.recall.fusion import LEAST_MATCH, WEIGHTS, fuse, lone_factor, session_mean
from recalld.daemon.recall.lexical import Statistics
from recalld.daemon.recall.postings import Entries, Postings
from recalld.daemon.recall.query import analyse
from recalld.daemon.recall.rescoring import in_period

from tests.recall.remembered import Remembered

MAY = int(datetime(2025, 5, 10, tzinfo=UTC).timestamp() * 1000)
DAY = 86_400_000


def _talk(memory: Remembered, session: str, *turns: str, speakers: str = "AB") -> None:
    for number, turn in enumerate(turns):
        memory.remember(
            turn,
            kind="conversation",
            session=session,
            turn=number,
            actor={"A": "Anna", "B": "Bert"}[speakers[number % len(speakers)]],
        )


def test_session_means() -> None:
    """A session counts by its best three turns over three; a lone row by a third of itself."""
    signal = np.array([3, 6, 9, 1, 6], np.float32)
    session = np.array([1, 1, 1, 1, -5])
    assert session_mean(signal, session).tolist() == [6, 6, 6, 6, 2]
    assert session_mean(signal[:0], session[:0]).tolist() == []


def test_a_session_about_it_lifts_its_turns(memory: Remembered) -> None:
    """Of two equal turns the one in the session about the topic comes first."""
    _talk(memory, "other", "The red kite flew away", "Lunch was late", "Nobody came")
    _talk(memory, "topic", "Kites need wind", "My kite has a long tail", "The red kite flew away")
    hits = memory.ask("kite").hits
    sessions = [hit.memory.session for hit in hits if hit.memory.content.startswith("The red")]
    assert sessions == ["topic", "other"]


def test_a_stray_word_is_hardly_a_match() -> None:
    """The best match counts in full if it is a good one, and by the square of what it lacks."""
    stats = Statistics(np.ones(4, np.float32), 10.0)
    best = {
        share: _words_of(share * stats.ideal(), stats)
        for share in (1.0, LEAST_MATCH, LEAST_MATCH / 2)
    }
    assert best[1.0] == pytest.approx(best[LEAST_MATCH])
    assert best[1.0] == pytest.approx(4 * best[LEAST_MATCH / 2])


def _words_of(score: float, stats: Statistics) -> float:
    """What a lone row with this word score gets for it."""
    none = Candidates.none()
    row = {
        field.name: np.zeros((1, *array.shape[1:]), array.dtype)
        for field in fields(none)
        for array in [getattr(none, field.name)]
    }
    lone = replace(
        none, **row | {"words": np.array([score], np.float32), "session": -row["rid"] - 1}
    )
    return float(fuse(lone, stats, analyse("anything", 0))["words"][0])


def test_the_speaker_asked_about_comes_first(memory: Remembered) -> None:
    """A question that names one speaker prefers what that speaker said."""
    _talk(memory, "s", "I love climbing", "I love climbing", "Let us eat")
    first = memory.ask("What does Bert love?").hits[0].memory
    assert (first.content, first.actor) == ("I love climbing", "Bert")


def test_an_answer_beats_its_question(memory: Remembered) -> None:
    """A turn that only asks counts less than one that tells the same."""
    _talk(memory, "s", "Did you move to Lyon in spring?", "Weather was fine")
    _talk(memory, "t", "I did move to Lyon in spring.", "Weather was fine")
    assert memory.found("who did move to Lyon in spring")[0].endswith(".")


def test_the_period_asked_about(memory: Remembered) -> None:
    """Of two equal memories the one from the month named comes first."""
    for month in ("2024-03", "2024-09"):
        memory.remember(
            f"quarterly review of {month[:4]}",
            kind="conversation",
            session=month,
            turn=0,
            observed_at=f"{month}-15T10:00:00.000Z",
        )
    for month, name in (("2024-03", "March"), ("2024-09", "September")):
        hit = memory.ask(f"quarterly review in {name} 2024").hits[0]
        assert hit.memory.session == month


def test_important_notes_win_ties_only(memory: Remembered) -> None:
    """Importance orders equal answers, and does not lift what answers worse."""
    memory.remember("deploy the service on Tuesday", importance=0.2)
    memory.remember("on Tuesday deploy the service", importance=0.9)
    memory.remember("the service is written in Go", importance=1.0)
    found = memory.found("deploy the service on Tuesday")
    assert found[:2] == ["on Tuesday deploy the service", "deploy the service on Tuesday"]


@pytest.mark.parametrize(
    ("at", "period", "expected"),
    [
        (MAY, Period(MAY - DAY, MAY + DAY, 0, True), 1.0),
        (MAY, Period(MAY - 9 * DAY, MAY - DAY, 0, True), 0.4),
        (MAY, Period(MAY + DAY, MAY + 9 * DAY, 0, True), 0.0),
        (MAY, Period(MAY - 90 * DAY, MAY + DAY, 0, False), 0.3),
        (MAY, Period(0, 0, 5, True), 1.0),
        (MAY, Period(0, 0, 4, True), 0.4),
        (MAY, Period(0, 0, 6, True), 0.0),
        (int(datetime(2025, 1, 5, tzinfo=UTC).timestamp() * 1000), Period(0, 0, 12, True), 0.4),
    ],
)
def test_periods(at: int, period: Period, expected: float) -> None:
    """In the period counts in full, told shortly after it less, a whole year little."""
    assert in_period(np.array([at]), period).tolist() == pytest.approx([expected])


def test_facts() -> None:
    """Questions, times and numbers in a turn are noticed."""
    facts = facts_of("Did you see it? We met two days ago. Right?", 18)
    assert facts.questions == pytest.approx(2 / 3)
    assert facts.time_words > 0
    assert facts.has_number == 1
    assert abs(facts.length) < 0.2
    assert facts_of("ok", 1).length == -2


def test_postings_find_every_entry() -> None:
    """Terms are found where they are, with their counts capped, and nowhere else."""
    index = Postings.of(Entries.of([(0, [7, *[9] * 300]), (1, []), (2, [7, 4_294_967_295, 7])]))
    slots, counts = index.find(7)
    assert slots.tolist() == [0, 2]
    assert counts.tolist() == [1, 2]
    assert index.find(9)[1].tolist() == [255]
    assert index.find(4_294_967_295)[0].tolist() == [2]
    assert index.find(8)[0].tolist() == []
    assert Postings.of(Entries.of([])).find(8)[0].tolist() == []
    twice = Postings.of(Entries.joined([index.entries(), index.entries()]))
    assert twice.size() == 2 * index.size()


def test_tokens_are_estimated() -> None:
    """Four letters a token, one ideograph a token."""
    assert tokens_of("") == 0
    assert tokens_of("abcde") == 2
    assert tokens_of("数据库") == 3


def test_lone_rows_can_match_sessions() -> None:
    """A perfect note scores as high as a perfect turn of a perfect session."""
    alone = WEIGHTS.words + WEIGHTS.meaning + (WEIGHTS.session_words + WEIGHTS.session_meaning) / 3
    together = WEIGHTS.words + WEIGHTS.meaning + WEIGHTS.session_words + WEIGHTS.session_meaning
    assert lone_factor(WEIGHTS) * alone == pytest.approx(together)
