"""Whatever happens to memories, recall answers as if it had read all of them just now."""

from __future__ import annotations

import random
import threading
from collections import Counter

import numpy as np
import pytest
from recalld.daemon.embed.background.quantisation import to_int8
from recalld.daemon.recall import lexical
from recalld.daemon.recall.columns import BLOCK
from recalld.daemon.recall.dense import similarities
from recalld.daemon.recall.shelf import Shelf
from recalld.daemon.recall.terms import term_ids, token_ids

from tests.recall.conftest import Open
from tests.recall.remembered import NAMESPACE, OTHER, Remembered, until

WORDS = ["tabs", "deploy", "cache", "token", "parser", "socket", "mutex", "kernel", "panic"]
SESSION = "s1"


def test_a_random_walk_agrees_with_brute_force(memory: Remembered) -> None:
    """Storing, editing, archiving and forgetting in any order leaves words and vectors right."""
    dice = random.Random(7)
    memory.backlog.start()
    alive: dict[str, str] = {}
    for step in range(400):
        _step(memory, dice, alive)
        if step % 8 == 0:
            word = dice.choice(WORDS)
            expected = {text for text in alive.values() if word in text.split()}
            hits = memory.ask(word, limit=100, explain=True).hits
            by_words = {h.memory.content for h in hits if h.why and h.why.get("words", 0) > 0}
            assert by_words == expected
    _check_shelf(memory, alive)


def _step(memory: Remembered, dice: random.Random, alive: dict[str, str]) -> None:
    """One change, and what it should mean."""
    chance = dice.random()
    if not alive or chance < 0.5:
        text = " ".join(dice.choices(WORDS, k=dice.randint(1, 6))) + f" {len(alive)} {chance}"
        alive[memory.remember(text)] = text
        return
    ulid = dice.choice(sorted(alive))
    if chance < 0.75:
        alive[ulid] = f"{dice.choice(WORDS)} edited {chance}"
        memory.edit(ulid, {"content": alive[ulid]})
    elif chance < 0.9:
        memory.forget(ulid)
        del alive[ulid]
    else:
        memory.edit(ulid, {"tags": ("seen",), "importance": chance})


def _check_shelf(memory: Remembered, alive: dict[str, str]) -> None:
    """The vectors in memory are those of the texts that are there now, and no others."""
    memory.embed_all()
    memory.ask("anything at all")
    shelf = _shelf(memory)
    columns, size = shelf.columns, shelf.state.size
    slots = np.flatnonzero(columns.alive[:size])
    texts = list(alive.values())
    expected = {v.tobytes() for v in to_int8(memory.embedder.documents(texts))}
    assert {columns.vectors[slot].tobytes() for slot in slots} == expected
    assert len(slots) == len(alive) == shelf.state.live
    assert shelf.state.total_words == pytest.approx(float(columns.words[slots].sum()))


def _shelf(memory: Remembered, namespace: str = NAMESPACE) -> Shelf:
    found = memory.recall.shelf(namespace)
    assert found is not None
    return found


def test_the_scan_agrees_with_a_plain_product(memory: Remembered) -> None:
    """Similarities over several blocks are the cosines of the stored vectors, 0 without one."""
    dice = np.random.default_rng(3)
    size = BLOCK + 77
    vectors = to_int8(dice.normal(size=(size, 16)).astype(np.float32))
    shelf = Shelf(16)
    shelf.columns.reserve(size)
    shelf.columns.set_vectors(np.arange(size - 1, dtype=np.int32), vectors[:-1])
    state = shelf.state._replace(size=size)
    question = dice.normal(size=16).astype(np.float32)
    found = similarities(shelf, state, question, lambda: None)
    rows = vectors.astype(np.float32)
    expected = rows @ question / np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(found[:-1], expected[:-1], rtol=1e-4)
    assert found[-1] == 0


def test_word_scores_agree_with_the_formula(memory: Remembered) -> None:
    """BM25 with the namespace's own statistics, computed here the slow way."""
    texts = ["tabs and tabs in the cache", "a cache of parsers", "sockets", "tabs parsers sockets"]
    for text in texts:
        memory.remember(text)
    memory.ask("tabs")
    shelf = _shelf(memory)
    terms = token_ids(["tabs", "cache", "missing"])
    found = lexical.find(shelf, shelf.state, terms)
    stats = lexical.statistics([shelf.state], [found], len(terms))
    scores = lexical.score(shelf, shelf.state, found, stats, lambda: None).rows
    counted = [Counter(term_ids(text)) for text in texts]
    average = sum(sum(c.values()) for c in counted) / len(texts)
    for slot, counts in enumerate(counted):
        expected = 0.0
        for term in terms:
            frequency = sum(term in other for other in counted)
            idf = np.log1p((len(texts) - frequency + 0.5) / (frequency + 0.5))
            length = 1 - lexical.B + lexical.B * sum(counts.values()) / average
            times = counts[term] / length
            expected += idf * (lexical.K1 + 1) * times / (times + lexical.K1)
        assert scores[slot] == pytest.approx(expected, rel=1e-4)


def test_who_stores_finds_it_at_once(memory: Remembered) -> None:
    """Writers on several threads each find their own memory in their next recall."""
    failed: list[str] = []

    def write(number: int) -> None:
        for step in range(25):
            memory.remember(f"marker{number}x{step}")

    threads = [threading.Thread(target=write, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for step in range(60):
        memory.remember(f"mine{step} of the reader")
        if not memory.found(f"mine{step}"):
            failed.append(f"mine{step}")
    for thread in threads:
        thread.join()
    assert failed == []
    last = {f"marker{number}x24" for number in range(3)}
    assert set(memory.found(" ".join(last), limit=3)) == last


def test_a_large_namespace_is_read_in_the_background(
    memory: Remembered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until its shelf is built SQLite answers; what changes meanwhile is not lost."""
    monkeypatch.setattr("recalld.daemon.recall.shelves.BUILD_AT_ONCE", 10)
    for number in range(40):
        memory.remember(f"deploy note {number}")
    assert len(memory.found("deploy", limit=100)) == 40
    ulid = memory.remember("deploy note late")
    memory.forget(ulid)
    memory.remember("deploy note later")
    until(lambda: memory.recall.shelf(NAMESPACE) is not None)
    assert len(memory.found("deploy", limit=100)) == 41
    assert memory.found("late") == []


def test_turns_know_their_neighbours(memory: Remembered) -> None:
    """An answer is found by the words of the question before it, also when told out of order."""
    turns = ["Where did you park the red bicycle?", "Behind the station, as always.", "Thanks!"]
    for turn in (2, 0, 1):
        memory.remember(turns[turn], kind="conversation", session=SESSION, turn=turn)
    for number in range(5):
        memory.remember(
            f"Unrelated remark {number}", kind="conversation", session="s2", turn=number
        )
    assert memory.found("red bicycle")[:2] == turns[:2]


def test_memory_is_bounded(opened: Open) -> None:
    """With room for one namespace the other goes, and comes back when it is asked for."""
    memory = opened(matrix_bytes=45_000)
    for number in range(60):
        memory.remember(f"deploy note {number}")
        memory.remember(f"deploy remark {number}", OTHER)
    for _ in range(3):
        assert len(memory.found("deploy note", limit=100)) == 60
        assert len(memory.found("deploy remark", limit=100, namespaces=(OTHER,))) == 60
        assert memory.recall.shelf(NAMESPACE) is None or memory.recall.shelf(OTHER) is None


def test_dead_slots_are_swept(memory: Remembered) -> None:
    """A shelf most of whose rows have changed is built anew behind the scenes."""
    ulids = [memory.remember(f"deploy note {number}") for number in range(20)]
    memory.found("deploy")
    for ulid in ulids:
        memory.edit(ulid, {"content": f"deploy edited {ulid}"})
    memory.found("deploy")
    until(lambda: _shelf(memory).dead_share() == 0)
    assert len(memory.found("edited", limit=100)) == 20
