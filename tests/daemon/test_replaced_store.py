"""A memory.db that is swapped under a live daemon: nothing is acknowledged and then lost."""

from __future__ import annotations

import shutil
from pathlib import Path

from recalld.storage.engine import Store

from tests.daemon.conftest import Starter


def _contents(path: Path) -> set[str]:
    """The texts in a closed store, without changing it."""
    store = Store.open(str(path), signer=lambda digest: digest)
    try:
        found = store.reader().connection.execute("SELECT content FROM memories")
        return {str(text) for (text,) in found}
    finally:
        store.close()


def test_a_replaced_store_ends_the_daemon_and_loses_nothing(
    start: Starter, data: Path, tmp_path: Path
) -> None:
    """Every acknowledged row is in the file that was moved; the one put there stays as it was."""
    daemon = start(supervise_s=0.1).ready()
    client = daemon.client(tmp_path)
    client.store("before the copy")
    moved, database = data / "moved.db", data / "memory.db"
    copy = tmp_path / "copy.db"
    shutil.copy(database, copy)
    client.store("after the copy")
    database.rename(moved)
    shutil.copy(copy, database)
    database.chmod(0o600)
    assert daemon.exit_code() == 0
    assert "replaced" in (data / "run" / "last-exit.json").read_text()
    assert database.read_bytes() == copy.read_bytes()
    assert not (wal := data / "memory.db-wal").exists() or not wal.stat().st_size
    assert _contents(moved) == {"before the copy", "after the copy"}


def test_no_write_is_acknowledged_between_two_looks(
    start: Starter, data: Path, tmp_path: Path
) -> None:
    """The writer itself notices, however far away the next look is."""
    daemon = start(supervise_s=60).ready()
    client = daemon.client(tmp_path)
    client.store("kept")
    database = data / "memory.db"
    shutil.copy(database, tmp_path / "copy.db")
    database.rename(data / "moved.db")
    shutil.copy(tmp_path / "copy.db", database)
    reply = client.post("/v1/memories", {"content": "nowhere to go"})
    assert reply.code == "store_damaged"
