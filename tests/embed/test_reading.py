"""Notes are read closely while nobody asks, each once, whatever happens in between."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from recalld.daemon.embed import standing
from recalld.daemon.embed.background import reading
from recalld.daemon.embed.background.backlog import Backlog
from recalld.daemon.embed.background.quantisation import to_int8
from recalld.daemon.embed.background.reading import Reading
from recalld.daemon.embed.protocol import Read
from recalld.daemon.embed.shipped.alignment import Alignment
from recalld.daemon.embed.shipped.layered import Layered
from recalld.daemon.embed.shipped.minilm import MiniLm
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.storage import edits, pieces, vectors
from recalld.storage.drafts import Draft, insert
from recalld.storage.engine import Store
from recalld.storage.scope import Scope
from recalld.storage.transaction import Change

if TYPE_CHECKING:
    from recalld.daemon.embed.protocol import Vectors

HERE = "project:test-00000001"
SCOPE = Scope([HERE])
EMBEDDER = Layered(StaticEmbedder(), MiniLm(), Alignment())


class Household:
    """A store whose rows are embedded and read, in the daemon's own threads."""

    def __init__(self, folder: Path, embedder: Layered = EMBEDDER) -> None:
        self.store = Store.open(str(folder / "memory.db"), signer=lambda digest: digest * 2)
        self.embedder = embedder
        self._turns = count(1)
        self.reader = self.store.reader()
        self.backlog = Backlog(self.store, embedder)
        self.reading = Reading(self.store, embedder, embedder.close_reader)

    def begin(self) -> None:
        """Start both threads."""
        self.backlog.start()
        self.reading.start()

    def settle(self) -> None:
        """Wait until everything is embedded and read."""
        until(lambda: self.backlog.state()["state"] == "ready")
        until(lambda: self.backlog.state()["pending"] == 0)
        until(lambda: self.reading.state()["state"] == "done")

    def remember(self, text: str, kind: str = "note", **more: object) -> tuple[int, str]:
        """Store something; its row id and ulid."""
        if kind == "conversation":
            more = {"session": "s", "turn": next(self._turns), **more}
        draft = Draft(HERE, text, kind=kind, **more)  # type: ignore[arg-type]  # real fields
        ulid = self.store.writer.submit(partial(insert, draft=draft, by="test")).result().ulid
        with self.reader.until(float("inf")) as connection:
            found = connection.execute("SELECT rid FROM memories WHERE ulid = ?", (ulid,)).get
        return int(found), ulid

    def vector(self, rid: int) -> bytes | None:
        """The stored vector of a row."""
        with self.reader.until(float("inf")) as connection:
            name = standing.newest(connection, self.embedder.space)
            space = vectors.find_space(connection, name)
            return None if space is None else vectors.get(connection, space, [rid]).get(rid)

    def pieces(self, rid: int) -> bytes | None:
        """What is kept of a row's pieces."""
        with self.reader.until(float("inf")) as connection:
            name = standing.newest(connection, self.embedder.space)
            return pieces.get(connection, name, [rid]).get(rid)

    def count_of_pieces(self) -> int:
        """Rows with pieces, of any space."""
        with self.reader.until(float("inf")) as connection:
            return int(connection.execute("SELECT count(*) FROM pieces").get)

    def names(self) -> list[str]:
        """The spaces there are."""
        with self.reader.until(float("inf")) as connection:
            return [space.name for space in vectors.spaces(connection)]

    def close(self) -> None:
        """End as the daemon does."""
        self.reading.stop()
        self.backlog.stop()
        self.store.close()


Begin = Callable[..., Household]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Opens the same store again and again, closing the one before; hardly any quiet is needed."""
    monkeypatch.setattr(reading, "QUIET_SECONDS", 0.01)
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    opened: list[Household] = []

    def fresh(embedder: Layered = EMBEDDER, *, run: bool = True) -> Household:
        if opened:
            opened[-1].close()
        opened.append(Household(folder, embedder))
        if run:
            opened[-1].begin()
        return opened[-1]

    yield fresh
    opened[-1].close()


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition; fails when it does not come true."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.005)


def quick(text: str) -> bytes:
    """What the table makes of a text."""
    return bytes(to_int8(EMBEDDER.documents([text]))[0])


def read(text: str) -> bytes:
    """What close reading makes of it."""
    return bytes(to_int8(EMBEDDER.close_reader.document(text, is_turn=False).vector))


def test_notes_are_read_and_turns_are_not(begin: Begin) -> None:
    """A note's vector is replaced by the better one; a turn of a conversation keeps the table's."""
    house = begin()
    note, _ = house.remember("the cache expires after an hour")
    turn, _ = house.remember("and then we talked about the cache", "conversation")
    house.settle()
    assert house.vector(note) == read("the cache expires after an hour")
    assert house.vector(turn) == quick("and then we talked about the cache")
    assert house.reading.state() == {"unread": 0, "state": "done", "last_error": None}


def test_a_thorough_reader_reads_turns(begin: Begin) -> None:
    """With MiniLM chosen for everything turns have theirs too, in their own mixture."""
    thorough = Layered(StaticEmbedder(), MiniLm(), Alignment(), thorough=True)
    house = begin(thorough)
    turn, _ = house.remember("and then we talked about the cache", "conversation")
    house.settle()
    text = "and then we talked about the cache"
    made = thorough.close_reader.document(text, is_turn=True)
    assert made.pieces is not None
    assert house.vector(turn) == bytes(to_int8(made.vector))
    assert house.pieces(turn) == made.pieces.tobytes()


def test_only_talk_keeps_its_pieces(begin: Begin) -> None:
    """Notes, chats with an assistant and turns of a page are found by their vectors alone."""
    house = begin(Layered(StaticEmbedder(), MiniLm(), Alignment(), thorough=True))
    rids = [
        house.remember("use tabs")[0],
        house.remember("use tabs", "conversation", role="user")[0],
        house.remember("use tabs", "conversation", role="assistant")[0],
        house.remember("use tabs. " * 60, "conversation")[0],
        house.remember("use tabs", "conversation", actor="Ann")[0],
    ]
    house.settle()
    assert [bool(house.pieces(rid)) for rid in rids] == [False, False, False, False, True]


def test_pieces_are_of_the_present_text(begin: Begin) -> None:
    """An edit takes them away with the vector, and reading the new text brings its own."""
    house = begin(Layered(StaticEmbedder(), MiniLm(), Alignment(), thorough=True))
    turn, ulid = house.remember("use tabs", "conversation")
    house.settle()
    before = house.pieces(turn)
    change = partial(edits.update, scope=SCOPE, ulid=ulid, changes={"content": "use four spaces"})
    house.store.writer.submit(partial(change, by="t")).result()
    made = house.embedder.close_reader.document("use four spaces", is_turn=True).pieces
    assert made is not None
    until(lambda: house.pieces(turn) == made.tobytes())
    assert before not in (None, made.tobytes())


def test_another_embedder_takes_pieces_away(begin: Begin) -> None:
    """Back at the default nothing is left of them."""
    house = begin(Layered(StaticEmbedder(), MiniLm(), Alignment(), thorough=True))
    turn, _ = house.remember("use tabs", "conversation")
    house.settle()
    again = begin()
    until(lambda: again.names() == [again.embedder.space])
    assert again.count_of_pieces() == 0
    assert again.vector(turn) == quick("use tabs")


def test_until_then_the_quick_vector_serves(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """While somebody asks or stores all the time, notes have the table's vectors."""
    monkeypatch.setattr(reading, "QUIET_SECONDS", 3600.0)
    monkeypatch.setattr(reading, "LONGEST_SECONDS", 3600.0)
    house = begin()
    note, _ = house.remember("use tabs")
    until(lambda: house.vector(note) is not None)
    until(lambda: house.reading.state()["state"] == "working")
    house.reading.disturb()
    assert house.vector(note) == quick("use tabs")


def test_whoever_stores_disturbs(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Storing, editing and forgetting put reading off; vectors being written do not."""
    house = begin()
    disturbed: list[bool] = []
    monkeypatch.setattr(house.reading, "disturb", lambda: disturbed.append(True))
    _, ulid = house.remember("use tabs")
    assert len(disturbed) == 1
    house.settle()
    assert len(disturbed) == 1
    house.store.writer.submit(lambda tx: edits.forget(tx, SCOPE, ulid, by="t")).result()
    assert len(disturbed) == 2


def test_it_rests_as_long_as_it_reads(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than half a processor is taken."""
    house = begin(run=False)
    closely = house.embedder.close_reader

    def document(text: str, *, is_turn: bool) -> Read:
        time.sleep(0.05)
        return Read(house.embedder.query(text))

    monkeypatch.setattr(closely, "document", document)
    for number in range(4):
        house.remember(f"note number {number}")
    begun = time.monotonic()
    house.begin()
    house.settle()
    assert time.monotonic() - begun >= 4 * 2 * 0.05


def test_nobody_is_told_too_early_that_all_is_read(begin: Begin) -> None:
    """From the moment a vector made at once is written the state says that there is work."""
    house = begin()
    house.settle()
    seen: list[object] = []

    def look(changes: Sequence[Change]) -> None:
        if any(change.op == "embed" for change in changes):
            seen.append(house.reading.state()["state"])

    end = house.store.writer.subscribe(look)
    house.remember("use tabs")
    house.settle()
    end()
    assert seen[0] == "working"


def test_a_dropped_space_is_no_trouble(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """`reembed` while a note is being read: its vector goes nowhere, the note is read anew."""
    house = begin()
    note, _ = house.remember("use tabs")
    house.settle()
    closely = house.embedder.close_reader
    held, go = threading.Event(), threading.Event()

    def document(text: str, *, is_turn: bool) -> Read:
        held.set()
        assert go.wait(60)
        return type(closely).document(closely, text, is_turn=is_turn)

    monkeypatch.setattr(closely, "document", document)
    other, _ = house.remember("use spaces")
    assert held.wait(60)
    house.backlog.reembed()
    until(lambda: house.names() == [f"{house.embedder.space}~2"])
    go.set()
    house.settle()
    assert house.reading.state() == {"unread": 0, "state": "done", "last_error": None}
    assert (house.vector(note), house.vector(other)) == (read("use tabs"), read("use spaces"))


def test_one_that_cannot_be_read_stops_no_other(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a text does to the reader, it keeps its vector and the others are read."""
    house = begin(run=False)
    closely = house.embedder.close_reader

    def document(text: str, *, is_turn: bool) -> Read:
        if text == "poison":
            raise ZeroDivisionError
        return type(closely).document(closely, text, is_turn=is_turn)

    monkeypatch.setattr(closely, "document", document)
    rids = [house.remember(text)[0] for text in ("use tabs", "poison", "use spaces")]
    house.begin()
    house.settle()
    expected = [read("use tabs"), quick("poison"), read("use spaces")]
    assert [house.vector(rid) for rid in rids] == expected


def test_trouble_passes(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too little memory is told, tried again, and forgotten with the first note that is read."""
    monkeypatch.setattr(reading, "_AFTER_TROUBLE_SECONDS", 0.01)
    house = begin(run=False)
    closely = house.embedder.close_reader
    short = [True]

    def document(text: str, *, is_turn: bool) -> Read:
        if short:
            raise MemoryError
        return type(closely).document(closely, text, is_turn=is_turn)

    monkeypatch.setattr(closely, "document", document)
    note, _ = house.remember("use tabs")
    house.begin()
    until(lambda: house.reading.state()["state"] == "failed")
    assert house.reading.state()["last_error"] == "MemoryError"
    short.clear()
    until(lambda: house.vector(note) == read("use tabs"))
    house.settle()
    assert house.reading.state()["last_error"] is None


def test_never_left_alone_it_reads_all_the_same(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that is asked without a pause gets through its notes slowly."""
    monkeypatch.setattr(reading, "QUIET_SECONDS", 3600.0)
    monkeypatch.setattr(reading, "LONGEST_SECONDS", 0.05)
    house = begin()
    note, _ = house.remember("use tabs")
    house.settle()
    assert house.vector(note) == read("use tabs")


def test_a_restart_goes_on(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not read before the daemon ended is read after its next start, and nothing twice."""
    monkeypatch.setattr(reading, "LONGEST_SECONDS", 3600.0)
    monkeypatch.setattr(reading, "QUIET_SECONDS", 3600.0)
    house = begin()
    rids = [house.remember(f"note number {number}")[0] for number in range(20)]
    until(lambda: house.backlog.state()["state"] == "ready")
    until(lambda: all(house.vector(rid) for rid in rids))
    monkeypatch.setattr(reading, "QUIET_SECONDS", 0.01)
    noted: list[str] = []
    house = begin(Layered(StaticEmbedder(), Noting(noted), Alignment()))
    house.settle()
    assert [house.vector(rid) for rid in rids] == [read(f"note number {n}") for n in range(20)]
    assert sorted(noted) == sorted(f"note number {n}" for n in range(20))
    begin(Layered(StaticEmbedder(), Noting(noted), Alignment())).settle()
    assert len(noted) == 20


class Noting(MiniLm):
    """Notes down what is read."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__()
        self._texts = texts

    def read(self, text: str) -> tuple[Vectors, Vectors | None]:
        """Note and read."""
        self._texts.append(text)
        return super().read(text)


def test_after_a_restart_questions_are_read_too(begin: Begin) -> None:
    """With every note read already the weights are loaded all the same, for questions."""
    house = begin()
    house.remember("use tabs")
    house.settle()
    again = begin(Layered(StaticEmbedder(), MiniLm(), Alignment()))
    again.settle()
    assert again.embedder.close_reader.is_ready


def test_nothing_is_loaded_for_turns_alone(begin: Begin) -> None:
    """22 MB of weights stay on disk where there is nothing to read."""
    house = begin(Layered(StaticEmbedder(), MiniLm(), Alignment()))
    house.remember("we talked about the cache", "conversation")
    house.settle()
    assert not house.embedder.close_reader.is_ready


def test_an_edit_is_read_again(begin: Begin) -> None:
    """A new text is embedded at once and then read; other changes leave the vector alone."""
    house = begin()
    note, ulid = house.remember("use tabs")
    house.settle()
    submit = house.store.writer.submit
    submit(lambda tx: edits.update(tx, SCOPE, ulid, {"tags": ("style",)}, by="t")).result()
    assert house.vector(note) == read("use tabs")
    submit(lambda tx: edits.update(tx, SCOPE, ulid, {"content": "use spaces"}, by="t")).result()
    until(lambda: house.vector(note) == read("use spaces"))


def test_an_edit_under_the_readers_eyes(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read of a text that changed meanwhile is thrown away, and the new text is read."""
    house = begin(run=False)
    note, ulid = house.remember("use tabs")
    closely = house.embedder.close_reader
    edited: list[bool] = []

    def document(text: str, *, is_turn: bool) -> Read:
        made = type(closely).document(closely, text, is_turn=is_turn)
        if not edited:
            edited.append(True)
            change = partial(
                edits.update, scope=SCOPE, ulid=ulid, changes={"content": "use spaces"}
            )
            house.store.writer.submit(partial(change, by="t")).result()
        return made

    monkeypatch.setattr(closely, "document", document)
    house.begin()
    until(lambda: bool(edited))
    monkeypatch.undo()
    until(lambda: house.vector(note) == read("use spaces"))


def test_forgotten_before_it_was_read(begin: Begin) -> None:
    """A row that is gone is struck off, and the next one read."""
    house = begin(run=False)
    house.backlog.start()
    gone, ulid = house.remember("use tabs")
    stays, _ = house.remember("use spaces")
    until(lambda: house.vector(gone) is not None and house.vector(stays) is not None)
    house.store.writer.submit(lambda tx: edits.forget(tx, SCOPE, ulid, by="t")).result()
    house.reading.start()
    house.settle()
    assert house.vector(stays) == read("use spaces")
    assert house.vector(gone) is None
    assert house.reading.state()["unread"] == 0


def test_broken_weights_cost_nothing_else(begin: Begin, tmp_path: Path) -> None:
    """The state says what is wrong; the table's vectors are there as ever."""
    house = begin(Layered(StaticEmbedder(), MiniLm(str(tmp_path)), Alignment()))
    note, _ = house.remember("use tabs")
    until(lambda: house.reading.state()["state"] == "failed")
    assert "MiniLM" in str(house.reading.state()["last_error"])
    until(lambda: house.backlog.state()["state"] == "ready")
    assert house.vector(note) == quick("use tabs")
    assert np.frombuffer(quick("use tabs"), np.int8).any()
