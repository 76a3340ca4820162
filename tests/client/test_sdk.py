"""`Memory` and `AsyncMemory`: every call, restarts under them, and what never leaves them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
import recalld.client as client
from recalld.auth.errors import (
    BlankQuery,
    Conflict,
    DaemonSilent,
    DaemonUnreachable,
    NotFound,
    RecalldError,
    Unauthenticated,
)
from recalld.auth.paths import Layout
from recalld.client import AsyncMemory, Memory

from tests.client.fakes import Asked, FakeDaemon, refusal, sequence
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.jsontypes import JsonObject

Fakes = Callable[..., FakeDaemon]
RECEIPT: tuple[int, JsonObject] = (
    201,
    {"id": "1", "result": "stored", "namespace": "default", "version": 1},
)


@pytest.fixture
def notices() -> list[str]:
    """What the SDK told the person."""
    return []


@pytest.fixture
def memory(
    recalld: Cli, daemon: Daemon, notices: list[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Memory]:
    """A client of the real daemon in the test's own checkout."""
    assert daemon.published
    for name in ("HOME", "RECALLD_HOME"):
        monkeypatch.setenv(name, recalld.env[name])
    with Memory(str(recalld.cwd), notice=notices.append) as made:
        yield made


@pytest.fixture
def lonely(place: Layout) -> Iterator[Memory]:
    """A client with a token of its own that starts no daemon."""
    with Memory(token="rk_test", home=place.data, start=False, timeout=3) as made:
        yield made


def test_every_call(memory: Memory, notices: list[str]) -> None:
    """Store, find, change, look back and count, typed all the way."""
    receipt = memory.store("Redis listens on 6380", kind="devops", tags=["redis"], importance=0.9)
    assert (receipt.result, receipt.version) == ("stored", 1)
    assert len(notices) == 1
    entry = memory.get(receipt.id)
    assert (entry.content, entry.tags, entry.importance) == (
        "Redis listens on 6380",
        ("redis",),
        0.9,
    )
    assert memory.recall("which port has redis", explain=True).hits[0].id == receipt.id
    assert memory.search("redis", kinds=["devops"]).hits[0].id == receipt.id
    assert [item.id for item in memory.list(kinds=["devops"]).items] == [receipt.id]
    assert memory.edit(receipt.id, content="on 6381").version == 2
    with pytest.raises(Conflict):
        memory.edit(receipt.id, content="on 6382", if_version=1)
    memory.forget(receipt.id)
    with pytest.raises(NotFound):
        memory.get(receipt.id)
    assert memory.undo(receipt.id).content == "on 6381"
    for number in range(10):  # each 130 kB, so that no page holds all
        memory.edit(receipt.id, content="x" * 65_000, detail=f"{number}" + "x" * 65_000)
    details = [str(version.fields["detail"])[:1] for version in memory.history(receipt.id)[4:]]
    assert details == list("0123456789")
    ops = [version.op for version in memory.history(receipt.id)][:4]
    assert ops == ["store", "edit", "forget", "undo"]
    assert memory.status().pid > 0
    assert {one.namespace: one.memories for one in memory.stats()}[receipt.namespace] == 1


def test_many_at_once(memory: Memory) -> None:
    """A batch answers item by item; a bad one is an error in its place."""
    good, bad = memory.store_many([{"content": "good"}, {"content": ""}])
    assert isinstance(good, client.Receipt)
    assert isinstance(bad, RecalldError)
    turns = memory.conversation("s1", [{"text": "hello", "speaker": "Ann"}, {"text": "hello"}])
    assert [turn.result for turn in turns if isinstance(turn, client.Receipt)] == ["stored"] * 2


def test_turns(memory: Memory) -> None:
    """A turn comes back with who said it, where and when; a note with none of it."""
    memory.conversation(
        "s1", [{"text": "Ship it", "speaker": "Bob", "role": "user", "at": "2026-05-01"}]
    )
    note = memory.get(memory.store("something else").id)
    assert (note.speaker, note.role, note.session, note.observed_at) == (None,) * 4
    (hit,) = memory.search("ship").hits
    for told in (hit, memory.recall("ship").hits[0], memory.get(hit.id)):
        assert (told.speaker, told.role, told.session) == ("Bob", "user", "s1")
        assert told.observed_at == "2026-05-01T00:00:00.000Z"


def test_pages(memory: Memory) -> None:
    """A cursor goes on where the page ended."""
    memory.store_many([{"content": f"note {number}"} for number in range(5)])
    first = memory.list(limit=3)
    second = memory.list(limit=3, cursor=first.next_cursor)
    assert len({item.id for page in (first, second) for item in page.items}) == 5
    assert second.next_cursor is None


def test_errors_are_those_of_the_tree(memory: Memory) -> None:
    """The daemon's refusal arrives as the same class."""
    with pytest.raises(BlankQuery):
        memory.recall("   ")


def test_a_restart_between_two_calls_is_invisible(memory: Memory, recalld: Cli) -> None:
    """A new daemon on another port is found, proven and used without an error."""
    memory.store("before")
    recalld.ok("restart")
    memory.store("after")
    assert len(memory.list().items) == 2


def test_a_killed_daemon_is_replaced(memory: Memory, daemon: Daemon) -> None:
    """Kill -9 between two calls costs a cold start and nothing else."""
    memory.store("before")
    pid = daemon.kill()
    assert memory.search("before").hits
    assert daemon.pid != pid


def test_threads_share_a_client(memory: Memory) -> None:
    """Eight threads on one client: every memory is stored."""
    memory.store("first")
    threads = [
        threading.Thread(target=memory.store, args=(f"thread {number}",)) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory.list().items) == 9


def test_async_calls(memory: Memory, recalld: Cli, notices: list[str]) -> None:
    """The same calls under asyncio, many at once, over a restart."""
    first = memory.store("from the ordinary one")

    async def main() -> None:
        async with AsyncMemory(str(recalld.cwd), notice=notices.append) as other:
            assert (await other.get(first.id)).content == "from the ordinary one"
            async with anyio.create_task_group() as group:
                for number in range(6):
                    group.start_soon(other.store, f"task {number}")
            recalld.ok("restart")
            assert (await other.recall("ordinary")).hits
            assert len((await other.list()).items) == 7
            with pytest.raises(NotFound):
                await other.get("01JZ5W3V9Q8Y7X6W5V4T3S2R1Q")

    anyio.run(main)
    assert len(notices) == 1


def test_proxies_and_netrc_are_ignored(
    lonely: Memory, fake: Fakes, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a proxy variable nor a .netrc entry changes where a call goes or what it carries."""
    (home / ".netrc").write_text("machine 127.0.0.1 login evil password evil\n")
    (home / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(home))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    daemon = fake(sequence(RECEIPT))
    lonely.store("x")
    (asked,) = daemon.calls("/v1/memories")
    assert asked.headers["authorization"] == "Bearer rk_test"


def test_every_connection_is_proven(lonely: Memory, fake: Fakes) -> None:
    """An imposter on the port of a daemon that was fine before sees a nonce, never the token."""
    daemon = fake(sequence(RECEIPT))
    daemon.closing = True
    lonely.store("x")
    daemon.honest = False
    with pytest.raises(DaemonUnreachable, match="not our daemon"):
        lonely.store("secret text")
    assert len(daemon.calls("/v1/memories")) == 1
    assert not any(b"secret" in asked.body for asked in daemon.asked)


def test_an_idle_connection_that_was_closed_is_made_anew(lonely: Memory, fake: Fakes) -> None:
    """A call after it finds, proves and uses another one; nothing is sent twice."""
    daemon = fake(sequence(RECEIPT))
    for turn in range(3):
        assert lonely.store("x").id == "1"
        daemon.hang_up()
        assert len(daemon.calls("/v1/memories")) == turn + 1
    assert len(daemon.calls("/v1/hello")) >= 3


def test_an_idle_connection_under_asyncio_is_made_anew(place: Layout, fake: Fakes) -> None:
    """The same for `AsyncMemory`: proven again, and an imposter by then is found out."""
    daemon = fake(sequence(RECEIPT))

    async def main() -> None:
        async with AsyncMemory(token="rk_test", home=place.data, start=False, timeout=3) as memory:
            for _ in range(2):
                assert (await memory.store("x")).id == "1"
                daemon.hang_up()
            daemon.honest = False
            with pytest.raises(DaemonUnreachable, match="not our daemon"):
                await memory.store("secret text")

    anyio.run(main)
    assert len(daemon.calls("/v1/memories")) == 2


def test_writes_carry_a_key_and_repeat_it(lonely: Memory, fake: Fakes) -> None:
    """A write whose answer was lost is sent again under the same key, so it happens once."""
    daemon = fake(sequence(None, RECEIPT, RECEIPT))
    assert lonely.store("x").id == "1"
    lonely.store("y")
    first, second, third = [
        asked.headers["idempotency-key"] for asked in daemon.calls("/v1/memories")
    ]
    assert first == second != third


def test_an_answer_lost_twice_is_asked_for_again(lonely: Memory, fake: Fakes) -> None:
    """Whatever ended one daemon may have ended the next one too."""
    daemon = fake(sequence(None, None, RECEIPT))
    assert lonely.store("x").id == "1"
    keys = {asked.headers["idempotency-key"] for asked in daemon.calls("/v1/memories")}
    assert len(keys) == 1


def test_answers_lost_for_ever_are_an_error(lonely: Memory, fake: Fakes) -> None:
    """Repeating ends after a handful of repetitions."""
    daemon = fake(sequence(None))
    with pytest.raises(DaemonUnreachable, match="broke"):
        lonely.store("x")
    assert 2 < len(daemon.calls("/v1/memories")) < 10


@pytest.mark.parametrize("answer", [refusal("draining", 503), refusal("busy", 429)])
def test_not_now_is_asked_again(
    lonely: Memory, fake: Fakes, answer: tuple[int, JsonObject]
) -> None:
    """Draining and busy both mean "not executed"."""
    daemon = fake(sequence(answer, RECEIPT))
    assert lonely.store("x").id == "1"
    assert len(daemon.calls("/v1/memories")) == 2


def test_a_refused_token_names_its_source(lonely: Memory, fake: Fakes) -> None:
    """A token given by hand is not replaced; the remedy names where it came from."""
    fake(sequence(refusal("unauthenticated", 401)))
    with pytest.raises(Unauthenticated) as caught:
        lonely.store("x")
    assert "RECALLD_TOKEN" in (caught.value.hint or "")


def test_a_replaced_token_is_read_again(memory: Memory, recalld: Cli) -> None:
    """Whoever runs while the checkout's token is rotated or replaced goes on with the new one."""
    memory.store("before")
    (grant,) = recalld.json("grant", "list")["grants"]
    recalld.ok("grant", "rotate", grant["id"])
    memory.store("after a rotation")
    recalld.ok("grant", "issue", "--namespace", "org:acme")
    assert memory.store("after a wider grant", namespace="org:acme").result == "stored"


def test_without_a_daemon_and_without_starting(lonely: Memory) -> None:
    """`start=False` says that nothing runs."""
    with pytest.raises(DaemonUnreachable, match="No daemon"):
        lonely.status()


def test_a_silent_daemon_ends_in_time(place: Layout, fake: Fakes) -> None:
    """A call ends within its time-out and says whom it waited for."""
    released = threading.Event()

    def silent(_asked: Asked) -> tuple[int, JsonObject]:
        released.wait(5)
        return RECEIPT

    fake(silent, pid=4711)
    with (
        Memory(token="rk_x", home=place.data, start=False, timeout=0.4) as memory,
        pytest.raises(DaemonSilent, match="4711"),
    ):
        memory.store("x")
    released.set()


def test_the_public_names_exist() -> None:
    """`__all__` is sorted, complete, and every name can be had."""
    assert client.__all__ == sorted(client.__all__)
    for name in client.__all__:
        assert getattr(client, name).__name__ == name
    with pytest.raises(AttributeError):
        client.nothing_like_that  # noqa: B018  # type: ignore[attr-defined]
