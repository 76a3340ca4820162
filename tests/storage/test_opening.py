"""Opening memory.db: safe places, fresh files, lost ones, damaged ones, newer ones."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from recalld.storage import connections, engine
from recalld.storage import place as places
from recalld.storage.faults import Damaged, NewerSchema, StorageFault, UnsafePlace
from recalld.storage.migrations import STEPS

from tests.storage.opened import Opened, sign


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777])
def umask(request: pytest.FixtureRequest) -> object:
    """Runs the test under a umask."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def _companions(path: Path) -> list[Path]:
    return [path, Path(f"{path}-wal"), Path(f"{path}-shm")]


def _digests(folder: Path) -> dict[str, str]:
    """What lies in the folder, but for an empty WAL and the WAL index, which hold no data."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.iterdir()
        if file.is_file() and file.stat().st_size and not file.name.endswith("-shm")
    }


def _crashed(path: Path) -> None:
    """A store that was killed: rows in the WAL only."""
    opened = Opened(path)
    opened.note("in the WAL only")
    kept = {file: file.read_bytes() for file in _companions(path)}
    opened.close()
    for file, content in kept.items():
        file.write_bytes(content)
        file.chmod(0o600)


def _refused(path: Path) -> StorageFault:
    """The refusal to open; nothing in the folder may have changed."""
    before = _digests(path.parent)
    with pytest.raises(StorageFault) as caught:
        engine.Store.open(str(path), signer=sign)
    assert _digests(path.parent) == before
    return caught.value


@pytest.mark.usefixtures("umask")
def test_all_files_are_private(place: Path) -> None:
    """The database, its WAL and its index are readable by their owner alone, whatever the umask."""
    opened = Opened(place)
    opened.note("secret")
    assert [_mode(file) for file in _companions(place)] == [0o600] * 3
    opened.close()
    assert sorted(file.name for file in place.parent.iterdir()) == ["memory.db"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_file_open_to_others_is_refused(place: Path, mode: int) -> None:
    """The refusal comes with the command that mends it."""
    Opened(place).close()
    place.chmod(mode)
    fault = _refused(place)
    assert isinstance(fault, UnsafePlace)
    assert (fault.kind, fault.fix) == ("permissions", f"chmod 600 {place}")


def test_a_folder_open_to_others_is_refused(place: Path) -> None:
    """Whoever can write the folder can put another file in place."""
    place.parent.chmod(0o750)
    fault = _refused(place)
    assert isinstance(fault, UnsafePlace)
    assert fault.fix == f"chmod 700 {place.parent}"


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_symlink_is_refused(place: Path, tmp_path: Path, suffix: str) -> None:
    """Neither the database nor its companions may be links to somewhere else."""
    if suffix:
        Opened(place).close()
    target = tmp_path / "elsewhere"
    target.write_bytes(b"")
    target.chmod(0o600)
    Path(f"{place}{suffix}").symlink_to(target)
    fault = _refused(place)
    assert isinstance(fault, UnsafePlace)
    assert fault.kind == "symlink"


def test_a_folder_instead_of_a_file_is_refused(place: Path) -> None:
    """Only a regular file can be the store."""
    place.mkdir(mode=0o700)
    fault = _refused(place)
    assert isinstance(fault, UnsafePlace)
    assert fault.kind == "file_type"


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs"])
def test_network_file_systems_are_refused(tmp_path: Path, kind: str) -> None:
    """Their locks do not hold; the refusal says to move the data folder."""
    with pytest.raises(UnsafePlace, match="file system"):
        places.check_file_system(str(tmp_path), kind)
    places.check_file_system(str(tmp_path), "ext4")


def test_the_innermost_mount_counts() -> None:
    """The last mount over the longest prefix is the one a folder lies on."""
    mounts = (
        "/dev/a / ext4 rw 0 0\nserver:/x /home nfs4 rw 0 0\n"
        "/dev/b /home/me/my\\040disk xfs rw 0 0\nbroken\n"
    )
    assert places.type_in_mounts("/home/me", mounts) == "nfs4"
    assert places.type_in_mounts("/home/me/my disk/data", mounts) == "xfs"
    assert places.type_in_mounts("/homestead", mounts) == "ext4"
    assert places.file_system("/") != ""


def test_an_old_sqlite_is_refused() -> None:
    """Versions before the WAL-reset fix can lose committed rows."""
    connections.require_sqlite("3.51.3")
    connections.require_sqlite("3.54.1")
    with pytest.raises(StorageFault, match=r"3\.51\.2"):
        connections.require_sqlite("3.51.2")


def test_rows_survive_closing_and_crashing(place: Path, reopen: Callable[[], Opened]) -> None:
    """What was acknowledged is there after an orderly close and after a kill."""
    _crashed(place)
    opened = reopen()
    assert opened.read(lambda c: c.execute("SELECT content FROM memories").get) == "in the WAL only"


def test_a_crash_in_the_middle_of_a_checkpoint_is_overcome(
    place: Path, reopen: Callable[[], Opened]
) -> None:
    """A first page that is ahead of the file's end is no damage while the WAL has the rest.

    A checkpoint writes page after page: killed after the first, it leaves a file that is shorter
    than its header says. That was taken for damage once, and no daemon started any more.
    """
    opened = Opened(place)
    for number in range(200):
        opened.note(f"row {number} " + "word " * 100)
    kept = {file: file.read_bytes() for file in _companions(place)[:2]}
    opened.close()
    whole = place.read_bytes()
    assert len(whole) > len(kept[place])
    kept[place] = whole[:4096] + kept[place][4096:]
    for file, content in kept.items():
        file.write_bytes(content)
        file.chmod(0o600)
    again = reopen()
    again.store.check()
    assert again.read(lambda c: c.execute("SELECT count(*) FROM memories").get) == 200


def test_an_emptied_file_is_refused(place: Path) -> None:
    """A memory.db of no bytes is a loss, not a new store; its WAL is left alone."""
    _crashed(place)
    os.truncate(place, 0)
    assert isinstance(_refused(place), Damaged)


def test_an_emptied_file_without_wal_is_refused(place: Path) -> None:
    """Ours is never empty, not even for a moment while it is made."""
    place.write_bytes(b"")
    place.chmod(0o600)
    assert isinstance(_refused(place), Damaged)


def test_a_lost_file_beside_its_wal_is_refused(place: Path) -> None:
    """With a WAL still there, the missing database was a store with rows."""
    _crashed(place)
    place.unlink()
    assert isinstance(_refused(place), Damaged)


def test_garbage_is_refused(place: Path) -> None:
    """A file that is no database is refused with every byte kept, and the WAL beside it too."""
    _crashed(place)
    place.write_bytes(b"not a database " * 1000)
    assert isinstance(_refused(place), Damaged)


def test_a_foreign_database_is_refused(place: Path) -> None:
    """An SQLite file of another program is not touched."""
    other = apsw.Connection(str(place))
    other.execute("CREATE TABLE t(x)")
    other.close()
    place.chmod(0o600)
    assert isinstance(_refused(place), Damaged)


def test_a_cut_file_is_refused(place: Path) -> None:
    """A database that lost its second half is damaged."""
    opened = Opened(place)
    for number in range(200):
        opened.note(f"row {number} " + "word " * 100)
    opened.close()
    os.truncate(place, place.stat().st_size // 2 // 4096 * 4096)
    assert isinstance(_refused(place), Damaged)


def test_a_cut_file_beside_its_wal_is_refused(place: Path) -> None:
    """The WAL of a damaged store is neither copied into it nor removed."""
    _crashed(place)
    other = apsw.Connection(str(place))
    other.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    other.execute("DROP TABLE chain_heads")
    other.close()
    assert isinstance(_refused(place), Damaged)


def test_a_lost_table_is_refused(place: Path) -> None:
    """A store without one of its tables is not served as a smaller one."""
    Opened(place).close()
    other = apsw.Connection(str(place))
    other.execute("DROP TABLE memories")
    other.close()
    assert isinstance(_refused(place), Damaged)


def test_a_newer_schema_is_refused(place: Path) -> None:
    """A file of a newer recalld is left as it is, its WAL included."""
    _crashed(place)
    other = apsw.Connection(str(place))
    other.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    other.pragma("user_version", 99)
    other.close()
    fault = _refused(place)
    assert isinstance(fault, NewerSchema)
    assert (fault.found, fault.known) == (99, len(STEPS))


def test_a_crash_while_making_the_file_is_overcome(
    place: Path, reopen: Callable[[], Opened]
) -> None:
    """A half-made draft from an earlier start is thrown away; it was never the store."""
    draft = Path(f"{place}.new")
    draft.write_bytes(b"half made")
    Path(f"{draft}-journal").write_bytes(b"old journal")
    reopen().note("fresh")
    assert not draft.exists()
    assert not Path(f"{draft}-journal").exists()


def test_a_crash_before_the_draft_is_unlinked_is_overcome(
    place: Path, reopen: Callable[[], Opened]
) -> None:
    """Both names may exist for a moment; the store's own is the one that stays."""
    first = reopen()
    ulid = first.note("kept")
    first.close()
    os.link(place, f"{place}.new")
    assert reopen().get(ulid).content == "kept"
    assert place.stat().st_nlink == 1


def test_checking_a_running_store_keeps_its_locks(opened: Opened) -> None:
    """Another process that opens and closes the file afterwards still sees it in use.

    Were the locks dropped by the check's own closing, that process would take itself for the last
    one and remove the WAL, and with it every row in it.
    """
    opened.note("before")
    opened.store.check()
    outside = (
        "import apsw, sys; c = apsw.Connection(sys.argv[1]); c.pragma('user_version'); c.close()"
    )
    subprocess.run([sys.executable, "-c", outside, str(opened.path)], check=True)
    assert opened.store.wal_bytes() > 0
    opened.note("after")
    assert opened.read(lambda c: c.execute("SELECT count(*) FROM memories").get) == 2


def test_a_running_store_notices_that_it_lost_its_end(
    place: Path, reopen: Callable[[], Opened]
) -> None:
    """With nothing in the WAL, a file shorter than it says fails the check of a running store."""
    first = reopen()
    for number in range(100):
        first.note(f"row {number} " + "word " * 100)
    first.close()
    again = reopen()
    again.store.check()
    os.truncate(place, place.stat().st_size // 2 // 4096 * 4096)
    with pytest.raises(Damaged):
        again.store.check()


@pytest.mark.parametrize("harm", ["overwritten", "replaced", "removed"])
def test_harm_done_to_a_running_store_is_noticed(opened: Opened, harm: str) -> None:
    """A file overwritten, replaced or removed under a running store does not pass its check."""
    opened.note("kept")
    opened.store.check()
    if harm == "overwritten":
        with opened.path.open("r+b") as file:
            file.write(b"garbage " * 1000)
    else:
        opened.path.unlink()
    if harm == "replaced":
        opened.path.write_bytes(b"")
    with pytest.raises(Damaged):
        opened.store.check()


def test_the_store_works_without_vectors(place: Path) -> None:
    """Without the extension everything but vectors is there, and the store says so."""
    opened = Opened(place, vectors=False)
    opened.note("text only")
    assert not opened.store.has_vectors
    opened.close()
