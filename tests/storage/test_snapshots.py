"""Snapshots: complete, checked, private, and never half there."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw
import pytest
from recalld.storage import integrity, snapshots, vectors
from recalld.storage.faults import Damaged, StorageFault

from tests.storage.opened import Opened


def test_a_snapshot_of_a_busy_store_opens_alone(opened: Opened, tmp_path: Path) -> None:
    """It holds every row acknowledged before it began, and writers go on meanwhile."""
    opened.write(lambda tx: vectors.ensure_space(tx, "test", "model", 8))
    before = {opened.note(f"row {number}") for number in range(50)}
    stop = threading.Event()

    def keep_writing() -> None:
        number = 0
        while not stop.is_set():
            opened.note(f"meanwhile {number}")
            number += 1

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        reports = [snapshots.create(opened.store, str(tmp_path / f"{n}.db")) for n in range(3)]
    finally:
        stop.set()
        writer.join()
    assert [report.problems for report in reports] == [[]] * 3
    assert sorted(file.name for file in tmp_path.glob("*.db*")) == ["0.db", "1.db", "2.db"]
    copy = apsw.Connection(str(tmp_path / "0.db"))
    assert before <= {str(ulid) for (ulid,) in copy.execute("SELECT ulid FROM memories")}
    copy.close()
    assert (tmp_path / "0.db").stat().st_mode & 0o777 == 0o600


def test_a_failed_snapshot_leaves_nothing(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a half copy nor one that fails its check gets the name, and an older one stays."""
    target = tmp_path / "copy.db"
    target.write_bytes(b"older")
    with pytest.raises((StorageFault, OSError)):
        snapshots.create(opened.store, str(tmp_path / "missing" / "copy.db"))
    bad = integrity.Report(["on purpose"], 0, 0)
    monkeypatch.setattr(integrity, "full", lambda _connection: bad)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(Damaged):
        snapshots.create(opened.store, str(target))
    assert target.read_bytes() == b"older"
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["copy.db"]


def test_an_interrupted_snapshot_is_written_over(opened: Opened, tmp_path: Path) -> None:
    """What a killed snapshot left behind does not stop the next one."""
    (tmp_path / "copy.db.part").write_bytes(b"half")
    assert snapshots.create(opened.store, str(tmp_path / "copy.db")).problems == []
    assert not (tmp_path / "copy.db.part").exists()
