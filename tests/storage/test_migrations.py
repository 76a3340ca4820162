"""Migrations: one transaction each, a snapshot first, all or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import apsw
import pytest
from recalld.storage import integrity, migrations, stemming
from recalld.storage.faults import FullDisk, NewerSchema
from recalld.storage.migrations import STEPS, Step

from tests.storage.opened import Opened


def _widen(connection: apsw.Connection) -> None:
    connection.execute("ALTER TABLE memories ADD COLUMN mood TEXT")


def _stumble(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE half_done(x)")
    raise RuntimeError("on purpose")


class _Usage(NamedTuple):
    free: int


def _nearly_full(_folder: str) -> _Usage:
    return _Usage(100)


NEXT = (*STEPS, Step(len(STEPS) + 1, "widen", _widen))


@pytest.fixture
def old(place: Path) -> apsw.Connection:
    """A connection to a store of today's schema with one memory in it."""
    opened = Opened(place)
    opened.note("kept")
    opened.close()
    return apsw.Connection(str(place))


def _numbers(connection: apsw.Connection) -> list[int]:
    rows = connection.execute("SELECT number FROM migrations ORDER BY number")
    return [int(number) for (number,) in rows]


def test_steps_are_numbered_without_gaps() -> None:
    """Each step's number follows the one before."""
    assert [step.number for step in STEPS] == list(range(1, len(STEPS) + 1))


def test_an_old_store_is_copied_then_migrated(old: apsw.Connection, place: Path) -> None:
    """The new schema keeps the rows; the copy from before has the old schema and opens alone."""
    copy = migrations.bring_up_to_date(old, str(place), NEXT)
    assert _numbers(old) == list(range(1, len(NEXT) + 1))
    assert old.execute("SELECT content, mood FROM memories").fetchall() == [("kept", None)]
    assert copy is not None
    assert Path(copy).stat().st_mode & 0o777 == 0o600
    assert Path(copy).parent.stat().st_mode & 0o777 == 0o700
    before = apsw.Connection(copy)
    assert migrations.version(before) == len(STEPS)
    assert integrity.full(before).memories == 1
    before.close()


def test_what_takes_long_is_told_in_the_log(
    old: apsw.Connection, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Copying a large store takes minutes, in which whoever waits can see what is going on."""
    with caplog.at_level("INFO", logger="recalld.storage"):
        migrations.bring_up_to_date(old, str(place), NEXT)
    assert caplog.records[0].message.startswith("copying the store")


def test_events_taken_in_twice_are_one_from_now_on(place: Path) -> None:
    """Step 3: an id claimed in two namespaces stays claimed, once, with its later time."""
    store = apsw.Connection(str(place))
    migrations.apply_all(store, STEPS[:2])
    store.execute("INSERT INTO taken_events VALUES (1, 'e', '2026-01-01'), (2, 'e', '2026-02-01')")
    migrations.apply_all(store)
    assert store.execute("SELECT id, at FROM taken_events").fetchall() == [("e", "2026-02-01")]
    store.close()


def test_a_current_store_is_left_alone(old: apsw.Connection, place: Path) -> None:
    """Without anything to do there is no copy and no write."""
    assert migrations.bring_up_to_date(old, str(place)) is None
    assert [file.name for file in place.parent.iterdir() if file.is_dir()] == []


def test_a_failing_step_leaves_the_schema_before_it(old: apsw.Connection, place: Path) -> None:
    """The steps before stay, the failing one leaves nothing, and the next start tries again."""
    steps = (*NEXT, Step(len(NEXT) + 1, "stumble", _stumble))
    with pytest.raises(RuntimeError):
        migrations.bring_up_to_date(old, str(place), steps)
    assert migrations.version(old) == len(NEXT)
    assert _numbers(old) == list(range(1, len(NEXT) + 1))
    assert old.execute("SELECT 1 FROM sqlite_schema WHERE name = 'half_done'").get is None


def test_a_step_that_always_fails_copies_once(old: apsw.Connection, place: Path) -> None:
    """Start after start finds the copy made before; after a change there is a new one."""
    failing = (*STEPS, Step(len(STEPS) + 1, "stumble", _stumble))
    folder = place.parent / "snapshots"
    for _ in range(3):
        with pytest.raises(RuntimeError):
            migrations.bring_up_to_date(old, str(place), failing)
    (first,) = folder.iterdir()
    first.rename(folder / "pre-0003-20200101T000000.db")
    old.execute("UPDATE versions SET hash = zeroblob(32)")
    with pytest.raises(RuntimeError):
        migrations.bring_up_to_date(old, str(place), failing)
    assert len(list(folder.iterdir())) == 2


def test_only_the_last_copies_are_kept(old: apsw.Connection, place: Path) -> None:
    """Older copies go, files of other names stay, and a copy that is damaged is not relied on."""
    folder = place.parent / "snapshots"
    folder.mkdir(mode=0o700)
    names = [f"pre-0003-2020010{n}T000000.db" for n in range(1, 6)]
    for name in (*names, "mine.db"):
        (folder / name).write_bytes(b"no store")
    copy = migrations.bring_up_to_date(old, str(place), NEXT)
    assert copy is not None
    kept = sorted(file.name for file in folder.iterdir())
    assert kept == sorted(["mine.db", *names[-2:], Path(copy).name])


def test_a_newer_store_is_refused(old: apsw.Connection, place: Path) -> None:
    """There is no way back: the file is ahead of the code."""
    migrations.apply_all(old, NEXT)
    with pytest.raises(NewerSchema):
        migrations.bring_up_to_date(old, str(place))


def test_no_space_for_the_copy_means_no_migration(
    old: apsw.Connection, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Free space is asked first; the schema stays and no half copy remains."""
    monkeypatch.setattr("shutil.disk_usage", _nearly_full)
    with pytest.raises(FullDisk):
        migrations.bring_up_to_date(old, str(place), NEXT)
    assert migrations.version(old) == len(STEPS)
    assert list((place.parent / "snapshots").iterdir()) == []


def test_the_tokenizer_of_the_schema_is_the_one_words_are_stemmed_with(
    old: apsw.Connection,
) -> None:
    """Document frequencies are asked for the stems the index really holds."""
    tokenizer = " ".join(["porter", *stemming.UNDERLYING[:2], f"'{stemming.UNDERLYING[2]}'"])
    assert tokenizer in str(old.execute("SELECT sql FROM sqlite_schema WHERE name = 'fts'").get)
