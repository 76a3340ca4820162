"""Shelves kept on disk: read back they answer as if they had been made from the store just now."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from recalld.daemon.embed.shipped.alignment import Alignment
from recalld.daemon.embed.shipped.layered import Layered
from recalld.daemon.embed.shipped.minilm import MiniLm
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.daemon.recall import kept, shelf_file, shelves
from recalld.storage import lineage, unread, vectors
from recalld.storage.edits import undo
from recalld.storage.lineage import Moment
from recalld.storage.scope import Scope, identify
from recalld.storage.unread import Made
from recalld.storage.vectors import Item

from tests.recall.conftest import Open
from tests.recall.remembered import NAMESPACE, Remembered, until

WORDS = ["tabs", "deploy", "cache", "token", "parser", "socket", "mutex", "kernel", "panic"]


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "BUILD_AT_ONCE", 0)


@pytest.fixture
def filled(memory: Remembered) -> Remembered:
    """Notes and turns of a namespace whose shelf has been built and kept."""
    for number in range(40):
        memory.remember(f"deploy note {number} about the cache", tags=("even",) * (number % 2))
    for turn, text in enumerate(["Where is the red bicycle?", "Behind the station.", "Thanks!"]):
        memory.remember(text, kind="conversation", session="s", turn=turn, actor="Alice")
    memory.embed_all()
    _build(memory)
    return memory


def _build(memory: Remembered) -> None:
    """Ask until the namespace has its shelf."""
    until(lambda: _shelf_is_there(memory))


def _restored(memory: Remembered) -> bool:
    """Restart; whether what is kept is of use then."""
    memory.forget_shelves()
    embedder = memory.embedder
    shelves_kept = kept.Kept.beside(memory.store.path, embedder.space, embedder.dimension)
    with memory.reader.until(float("inf")) as connection:
        (ns,) = identify(connection, Scope([NAMESPACE]))
        return shelves_kept.restore(connection, ns, lambda: None) is not None


def _file(memory: Remembered) -> Path:
    (path,) = (Path(memory.store.path).parent / kept.FOLDER).iterdir()
    return path


QUESTIONS = ["deploy note 7", "red bicycle", "did Alice thank anyone", "cache"]


def test_a_kept_shelf_answers_alike(filled: Remembered) -> None:
    """After a restart the very first recall has the shelf, and the same hits with the same why."""

    def answers() -> list[list[tuple[str, float]]]:
        asked = [filled.ask(question, limit=50, explain=True).hits for question in QUESTIONS]
        tagged = filled.ask("deploy", limit=50, tags=("even",)).hits
        return [[(h.memory.ulid, round(h.score, 3)) for h in hits] for hits in [*asked, tagged]]

    before = answers()
    assert _restored(filled)
    assert answers() == before


def test_what_changed_since_is_read_again(filled: Remembered) -> None:
    """Stored, edited, forgotten, brought back: all of it counts in the first recall."""
    edited = filled.remember("mutex before")
    gone = filled.remember("kernel panic gone")
    back = filled.remember("kernel panic back")
    _build_anew(filled)
    filled.remember("socket is new")
    filled.edit(edited, {"content": "mutex afterwards"})
    filled.forget(gone)
    filled.forget(back)
    filled.store.writer.submit(lambda tx: undo(tx, Scope([NAMESPACE]), back, by="t")).result()
    filled.remember("It was blue.", kind="conversation", session="s", turn=3, actor="Alice")
    assert _restored(filled)
    filled.embed_all()
    assert "socket is new" in filled.found("socket")
    assert "mutex afterwards" in filled.found("mutex")
    assert "mutex before" not in filled.found("mutex", limit=100)
    assert "kernel panic gone" not in filled.found("kernel panic", limit=100)
    assert "kernel panic back" in filled.found("kernel panic")


def _read(memory: Remembered, ulid: str, vector: bytes) -> None:
    """Give a note the vector of a close reading."""
    with memory.reader.until(float("inf")) as connection:
        space = vectors.find_space(connection, memory.embedder.space)
        assert space is not None
        (rid,) = [row.rid for row in unread.newest(connection, space, 999).rows if row.ulid == ulid]
    made = Made(Item(rid, ulid, 1, vector))
    put = partial(unread.put_read, space=space, read=[made], gone=())
    memory.store.writer.submit(put).result()


def test_what_was_read_since_is_known(opened: Open, embedder: StaticEmbedder) -> None:
    """A note read closely after its namespace was kept has its better vector after a restart."""
    memory = opened(Layered(embedder, MiniLm(), Alignment()))
    ulid = memory.remember("deploy on Fridays")
    memory.embed_all()
    _build(memory)
    better = bytes(range(1, 129)) * 2
    _read(memory, ulid, better)
    assert _restored(memory)
    memory.ask("deploy")
    shelf = memory.recall.shelf(NAMESPACE)
    assert shelf is not None
    assert shelf.columns.vectors[0].astype(np.int8).tobytes() == better


def _build_anew(memory: Remembered) -> None:
    _file(memory).unlink()
    memory.forget_shelves()
    memory.embed_all()
    _build(memory)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-64])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _open_to_others(path: Path) -> None:
    path.chmod(0o644)


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def _older_format(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"recalld shelf 1", b"recalld shelf 0", 1))


@pytest.mark.parametrize("harm", [_cut, _flip, _empty, _open_to_others, _link, _older_format])
def test_a_spoiled_file_is_passed_over(filled: Remembered, harm: Callable[[Path], None]) -> None:
    """Recall answers without it, and makes a new one."""
    harm(_file(filled))
    assert not _restored(filled)
    assert sum("deploy" in text for text in filled.found("deploy", limit=100)) == 40
    _build(filled)
    assert _restored(filled)


def test_a_wrong_byte_anywhere_is_noticed(filled: Remembered) -> None:
    """Whatever byte is wrong, the shelf is not read."""
    data = _file(filled).read_bytes()
    dice = random.Random(4)
    for _ in range(200):
        spoiled = np.frombuffer(bytearray(data), np.uint8)
        spoiled[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        with pytest.raises(shelf_file.Unreadable):
            shelf_file.unpack(spoiled)


def test_files_are_private(filled: Remembered) -> None:
    """A kept shelf is for its owner only: it holds hashed words and vectors of memories."""
    path = _file(filled)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_another_history_is_not_taken_for_ours(filled: Remembered) -> None:
    """A moment that is not in this store's past has no difference to it."""
    with filled.reader.until(float("inf")) as connection:
        (ns,) = identify(connection, Scope([NAMESPACE]))
        moment = lineage.now(connection, ns)
    filled.remember("one more")
    with filled.reader.until(float("inf")) as connection:
        known = lineage.since(connection, ns, moment)
        assert known is not None
        assert len(known.rids) == 1
        assert lineage.since(connection, ns, Moment(moment.entry, os.urandom(32))) is None
        assert lineage.since(connection, ns, Moment(moment.entry + 9, moment.hash)) is None
        assert lineage.since(connection, ns, Moment(0, moment.hash)) is None


def test_a_walk_with_restarts(memory: Remembered) -> None:
    """However changes and restarts mix, words find exactly the texts that are there."""
    dice = random.Random(11)
    alive: dict[str, str] = {}
    checked = 0
    memory.backlog.start()
    for step in range(300):
        if not alive or dice.random() < 0.5:
            text = " ".join(dice.choices(WORDS, k=3)) + f" step{step}"
            alive[memory.remember(text)] = text
        elif dice.random() < 0.5:
            ulid = dice.choice(sorted(alive))
            alive[ulid] = f"{dice.choice(WORDS)} edited{step}"
            memory.edit(ulid, {"content": alive[ulid]})
        else:
            ulid = dice.choice(sorted(alive))
            memory.forget(ulid)
            del alive[ulid]
        if step % 25 == 24:
            memory.forget_shelves()
            if step % 75 == 74:
                _build(memory)
        if step % 5 == 0 and _shelf_is_there(memory):
            checked += 1
            word = dice.choice(WORDS)
            expected = {text for text in alive.values() if word in text.split()}
            hits = memory.ask(word, limit=100, explain=True).hits
            by_words = {h.memory.content for h in hits if h.why and h.why.get("words", 0) > 0}
            assert by_words == expected
    assert checked > 30


def _shelf_is_there(memory: Remembered) -> bool:
    memory.found("anything")
    return memory.recall.shelf(NAMESPACE) is not None
