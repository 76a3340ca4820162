"""Questions are read closely where their words say little, and only notes are asked so."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.shipped.alignment import Alignment
from recalld.daemon.embed.shipped.layered import Layered
from recalld.daemon.embed.shipped.minilm import MiniLm
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.daemon.recall import question

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
    original: Callable[[MiniLm, str], object] = MiniLm.read

    def read(self: MiniLm, text: str) -> object:
        asked.append(text)
        return original(self, text)

    monkeypatch.setattr(MiniLm, "read", read)
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


def test_a_filter_that_leaves_no_note(noted: Remembered, reads: list[str]) -> None:
    """Where only turns are wanted, or nothing is, there is nothing to read the question for."""
    noted.remember("we talked about it", kind="conversation", session="s", turn=0)
    noted.embed_all()
    noted.ask(PARAPHRASE, kinds=("conversation",))
    noted.ask(PARAPHRASE, tags=("none has this",))
    assert reads == []


def test_what_is_not_in_memory_is_asked_alike(
    opened: Open, layered: Layered, reads: list[str]
) -> None:
    """SQLite's indexes are asked by what was read, too, unless its words match."""
    memory = opened(layered, matrix_bytes=0)
    for note in NOTES:
        memory.remember(note)
    memory.embed_all()
    assert memory.found(PARAPHRASE)[0] == NOTES[0]
    assert len(reads) == 1
    memory.ask("compress log files")
    assert len(reads) == 1


def test_in_a_hurry_nothing_is_read(
    noted: Remembered, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recall with less time left than reading may take answers by the vector it has."""
    monkeypatch.setattr(question, "LEAST_TIME", 3600.0)
    assert len(noted.ask(PARAPHRASE).hits) > 0
    assert reads == []


def test_a_page_is_not_read(noted: Remembered, reads: list[str]) -> None:
    """A long question, in any script, is asked by the table's vector."""
    noted.ask(f"{PARAPHRASE} " * 12)
    noted.ask("密鑰" * 60)
    assert reads == []


def test_closeness_is_told_where_it_was_read(noted: Remembered) -> None:
    """A hit says how close it is to a question that was read; otherwise it says nothing."""
    hit = noted.ask(PARAPHRASE).hits[0]
    assert hit.closeness is not None
    assert 0.2 < hit.closeness <= 1
    assert noted.ask("compress log files").hits[0].closeness is None


def test_weights_that_are_broken_are_told(
    opened: Open, embedder: StaticEmbedder, tmp_path: Path
) -> None:
    """Recall answers as the table can, and says that it could do better."""
    made = Layered(embedder, MiniLm(str(tmp_path)), Alignment())
    with pytest.raises(VectorsUnavailable):
        made.close_reader.load()
    memory = opened(made)
    memory.remember(NOTES[0])
    memory.embed_all()
    assert memory.ask(PARAPHRASE).degraded == ("reading_unavailable",)


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

    monkeypatch.setattr(MiniLm, "read", broken)
    with caplog.at_level(logging.INFO, "recalld.recall"):
        assert len(noted.found(PARAPHRASE)) > 0
    assert "The weights are gone." in caplog.text


def test_a_question_without_a_known_word(noted: Remembered) -> None:
    """What nobody can read is asked by words alone."""
    assert noted.found("\u2603") == []
