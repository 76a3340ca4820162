"""What time does to what was learned."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from recalld.daemon.caller import Caller
from recalld.daemon.intake.event import Event
from recalld.daemon.lessons import upkeep
from recalld.daemon.moments import dispatch
from recalld.storage import counters, exposures, lessons, memories, task_checkpoints
from recalld.storage.drafts import Draft, insert
from recalld.storage.engine import Store
from recalld.storage.scope import Scope
from recalld.storage.timestamps import from_unix_ms

from tests.storage.opened import sign

DAY = 86_400.0
NAMESPACE = "project:here-00000000"
SCOPE = Scope([NAMESPACE])
CALLER = Caller(NAMESPACE, SCOPE, "grant")


class Aging:
    """A store whose clock the test turns."""

    def __init__(self, path: Path) -> None:
        self.now = time.time()
        self.store = Store.open(str(path), signer=sign, clock=lambda: self.now)

    def tell(self, kind: str, command: str, error: str = "") -> None:
        """One event of a session that began on this day."""
        at = from_unix_ms(int(self.now * 1000))
        self.now += 1
        told = f'{{"command": "{command}"}}'
        event = Event(at + kind, "codex", kind, at[:10], at, tool="Bash", input=told, error=error)
        self.store.writer.submit(lambda tx: dispatch.take(tx, CALLER, [event])).result(10)

    def tidy(self, *, demote_unused: bool = False) -> None:
        """One round of upkeep."""
        job = self.store.writer.submit(lambda tx: upkeep.tidy(tx, demote_unused=demote_unused))
        job.result(10)

    def keep(self, draft: Draft) -> str:
        """Store a draft and return its id."""
        return self.store.writer.submit(lambda tx: insert(tx, draft, by="g")).result(10).ulid

    def statuses(self) -> list[str]:
        """The lessons' statuses."""
        with self.store.reader().until(time.monotonic() + 10) as connection:
            return [one.status for one in lessons.newest(connection, SCOPE, None, 10)]

    def pair(self) -> None:
        """`npm test` fails, `pnpm test` works."""
        self.tell("tool_failure", "npm test", "npm ERR! missing script: test")
        self.tell("tool_success", "pnpm test")


@pytest.fixture
def aging(tmp_path: Path) -> Iterator[Aging]:
    """A store in a folder of its own."""
    tmp_path.chmod(0o700)
    found = Aging(tmp_path / "memory.db")
    yield found
    found.store.close()


def test_a_candidate_nobody_sees_again_is_rejected(aging: Aging) -> None:
    """After a week a single sighting is given up; seen again it counts as the second one."""
    aging.pair()
    aging.now += 6 * DAY
    aging.tidy()
    assert aging.statuses() == ["candidate"]
    aging.now += 2 * DAY
    aging.tidy()
    assert aging.statuses() == ["rejected"]
    aging.pair()
    assert aging.statuses() == ["promoted"]


def _relevant(aging: Aging, ulid: str, sessions: int, *, how: str) -> None:
    def job_for(number: int) -> None:
        aging.store.writer.submit(
            lambda tx: exposures.note(tx, NAMESPACE, f"s{number}", [ulid], how)
        ).result(10)

    for number in range(sessions):
        job_for(number)
    aging.store.writer.submit(lambda tx: counters.add(tx, SCOPE, [ulid], "injected")).result(10)


def _status(aging: Aging, ulid: str) -> str:
    with aging.store.reader().until(time.monotonic() + 10) as connection:
        return memories.get(connection, SCOPE, ulid).status


def test_unused_rules_go_only_if_asked_and_only_if_they_were_relevant(aging: Aging) -> None:
    """Defect 13: loads say nothing against a rule; solutions and cited rules stay anyway."""
    ids: dict[str, str] = {}
    for name, kind in [
        ("relevant", "preference"), ("loaded", "preference"), ("cited", "preference"),
        ("solved", "solution"),
    ]:  # fmt: skip
        draft = Draft(NAMESPACE, f"a rule that was {name}", kind=kind)
        ids[name] = aging.keep(draft)
    for name in ("relevant", "cited", "solved"):
        _relevant(aging, ids[name], 25, how="relevant")
    _relevant(aging, ids["loaded"], 25, how="loaded")
    aging.store.writer.submit(lambda tx: counters.add(tx, SCOPE, [ids["cited"]], "cited")).result(
        10
    )
    aging.now += 8 * DAY
    aging.tidy()
    assert _status(aging, ids["relevant"]) == "active"
    aging.tidy(demote_unused=True)
    assert {name: _status(aging, ulid) for name, ulid in ids.items()} == {
        "relevant": "archived", "loaded": "active", "cited": "active", "solved": "active",
    }  # fmt: skip


def test_old_records_are_dropped_and_lessons_stay(aging: Aging) -> None:
    """Outcomes go after 90 days, what was learned from them does not."""
    aging.pair()
    aging.pair()
    aging.now += 100 * DAY
    aging.tidy()
    assert aging.statuses() == ["promoted"]
    found = aging.store.writer.submit(
        lambda tx: tx.connection.execute("SELECT count(*) FROM outcomes").get
    )
    assert found.result(10) == 0


def _checkpoint(aging: Aging, *, automatic: bool) -> None:
    aging.store.writer.submit(
        lambda tx: task_checkpoints.save(
            tx, NAMESPACE, completed="", remaining="port it", automatic=automatic, by="g"
        )
    ).result(10)


@pytest.mark.parametrize(("automatic", "stays"), [(True, False), (False, True)])
def test_a_checkpoint_nobody_comes_back_to_is_put_away(
    aging: Aging, *, automatic: bool, stays: bool
) -> None:
    """One read off a session goes after two weeks; one saved by hand waits for a hand."""
    _checkpoint(aging, automatic=not automatic)
    _checkpoint(aging, automatic=automatic)
    for days in (13, 2):
        aging.now += days * DAY
        aging.tidy()
        with aging.store.reader().until(time.monotonic() + 10) as connection:
            found = task_checkpoints.current(connection, SCOPE)
        assert (found is not None) == (stays or days == 13)
