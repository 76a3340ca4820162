"""Questions are read closely where their words say little, and only notes are asked so."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from recalld.daemon.embed.alignment import Alignment
from recalld.daemon.embed.layered import Layered
from recalld.daemon.embed.minilm import MiniLm
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.static import StaticEmbedder

from tests.recall.conftest import Open
from tests.recall.remembered import Remembered

NOTES = (
    "Rotate the signing credentials each quarter",
    "Compress log files before they leave the machine",
    "Pin the compiler release in the container image",
)
PARAPHRASE = "how often must we swap out our secret tokens?"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions MiniLM was given."""
    asked: list[str] = []
    original: Callable[[MiniLm, str], object] = MiniLm.query

    def query(self: MiniLm, text: str) -> object:
        asked.append(text)
        return original(self, text)

    monkeypatch.setattr(MiniLm, "query", query)
    return asked


@pytest.fixture
def layered(embedder: StaticEmbedder) -> Layered:
    """The default embedder, with everything loaded."""
    made = Layered(embedder, MiniLm(), Alignment())
    made.close_reader.load()
    return made


@pytest.fixture
def noted(opened: Open, layered: Layered) -> Remembered:
    """Three notes with their vectors."""
    memory = opened(layered)
    for note in NOTES:
        memory.remember(note)
    memory.embed_all()
    return memory


def test_a_paraphrase_is_read(noted: Remembered, reads: list[str]) -> None:
    """A question that shares no word with any note is answered by what it means."""
    assert noted.found(PARAPHRASE)[0] == NOTES[0]
    assert len(reads) == 1


def test_words_that_match_are_enough(noted: Remembered, reads: list[str]) -> None:
    """A question in the words of a note costs no transformer."""
    assert noted.found("compress log files")[0] == NOTES[1]
    assert reads == []


def test_turns_are_not_asked_so(opened: Open, layered: Layered, reads: list[str]) -> None:
    """A namespace of conversations alone has nothing that was read; one note changes that."""
    memory = opened(layered)
    memory.remember(NOTES[0], kind="conversation", session="s", turn=0)
    memory.embed_all()
    memory.ask(PARAPHRASE)
    assert reads == []
    memory.remember(NOTES[1])
    memory.embed_all()
    memory.ask(PARAPHRASE)
    assert len(reads) == 1


def test_thorough_reads_everything(
    opened: Open, embedder: StaticEmbedder, reads: list[str]
) -> None:
    """With MiniLM chosen for everything every question is read, whatever it asks."""
    thorough = Layered(embedder, MiniLm(), Alignment(), thorough=True)
    thorough.close_reader.load()
    memory = opened(thorough)
    memory.remember(NOTES[0], kind="conversation", session="s", turn=0)
    memory.embed_all()
    memory.ask("rotate the signing credentials")
    assert len(reads) == 1


def test_a_filter_counts_in_what_matches(noted: Remembered, reads: list[str]) -> None:
    """A word match among rows that are filtered out is none."""
    noted.remember("swap out secret tokens", tags=("old",))
    noted.embed_all()
    noted.ask(PARAPHRASE)
    assert reads == []
    noted.remember(NOTES[0], tags=("new",))
    noted.ask(PARAPHRASE, tags=("new",))
    assert len(reads) == 1


def test_before_the_weights_are_loaded(
    opened: Open, embedder: StaticEmbedder, reads: list[str]
) -> None:
    """No recall waits for weights: the table's vector asks."""
    memory = opened(Layered(embedder, MiniLm(), Alignment()))
    memory.remember(NOTES[0])
    memory.embed_all()
    answer = memory.ask(PARAPHRASE)
    assert reads == []
    assert answer.degraded == ()
    assert len(answer.hits) == 1


def test_a_reader_that_fails(
    noted: Remembered, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The question is asked as the table has it, and the log says why."""

    def broken(self: MiniLm, text: str) -> object:
        raise VectorsUnavailable("The weights are gone.")

    monkeypatch.setattr(MiniLm, "query", broken)
    with caplog.at_level(logging.INFO, "recalld.recall"):
        assert len(noted.found(PARAPHRASE)) > 0
    assert "The weights are gone." in caplog.text


def test_a_question_without_a_known_word(noted: Remembered) -> None:
    """What nobody can read is asked by words alone."""
    assert noted.found("\u2603") == []
