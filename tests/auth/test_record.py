"""The discovery record: published, found, distrusted, withdrawn."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from recalld.auth import record as records
from recalld.auth.errors import UnsafePermissions
from recalld.auth.paths import Layout, ensure_private_dir, layout
from recalld.auth.record import API, Record, StaleRecord

from tests.harness.jsontypes import decode


@pytest.fixture
def place(data: Path) -> Layout:
    """The layout of an existing, empty data folder."""
    found = layout({"RECALLD_HOME": str(data)})
    ensure_private_dir(found.data)
    ensure_private_dir(found.run)
    return found


def a_record(instance: str = "0123456789abcdef") -> Record:
    """A record as a daemon on this machine would publish it."""
    return Record(
        instance=instance,
        pid=4711,
        boot_id=records.boot_id(),
        host_id=records.host_id(),
        host="127.0.0.1",
        port=40613,
        secret="ab" * 32,
        version="0.1.0",
        api=API,
        managed_by="spawn",
        started_at="2026-01-31T12:00:00.000Z",
    )


def edit(place: Layout, **changes: object) -> None:
    """Change fields of the published record; None removes one."""
    file = Path(place.record)
    document = decode(file.read_text()) | changes
    document = {name: value for name, value in document.items() if value is not None}
    file.write_text(json.dumps(document))


def test_what_is_published_is_found(place: Layout) -> None:
    """The record comes back as it was given, from a 0600 file."""
    assert records.read(place) is None
    records.publish(place, a_record())
    assert records.read(place) == a_record()
    assert stat.S_IMODE(os.stat(place.record).st_mode) == 0o600


def test_no_data_folder_means_no_record(data: Path) -> None:
    """Before the first start there is nothing to find, and looking creates nothing."""
    assert records.read(layout({"RECALLD_HOME": str(data)})) is None
    assert not data.exists()


def test_unknown_keys_are_ignored(place: Layout) -> None:
    """A newer daemon may publish more than we know."""
    records.publish(place, a_record())
    edit(place, uds="/somewhere")
    assert records.read(place) == a_record()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 9_000, b"{}"])
def test_garbage_is_stale(place: Layout, content: bytes) -> None:
    """A damaged record never wedges a client: it is as good as none."""
    records.publish(place, a_record())
    Path(place.record).write_bytes(content)
    with pytest.raises(StaleRecord):
        records.read(place)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"schema": 2}, "schema 2"),
        ({"schema": None}, "lacks a field"),
        ({"port": "40613"}, "lacks a field"),
        ({"port": 0}, "impossible port"),
        ({"port": 65536}, "impossible port"),
        ({"secret": "ab"}, "impossible"),
        ({"secret": "zz" * 32}, "impossible"),
        ({"secret": None}, "lacks a field"),
        ({"api": [1]}, "lacks a field"),
        ({"api": "11"}, "lacks a field"),
        ({"host": "10.0.0.1"}, "not point at this machine"),
        ({"host": "localhost"}, "not point at this machine"),
        ({"boot_id": "another"}, "last boot"),
        ({"host_id": "another"}, "another host"),
    ],
)
def test_a_record_we_cannot_use_is_stale(
    place: Layout, changes: dict[str, object], reason: str
) -> None:
    """The reason names what is wrong."""
    records.publish(place, a_record())
    edit(place, **changes)
    with pytest.raises(StaleRecord, match=reason) as stale:
        records.read(place)
    assert reason in stale.value.reason


def test_a_record_others_could_touch_is_refused(place: Layout) -> None:
    """An open file, an open folder or a symbolic link is an error with a remedy, not `stale`."""
    records.publish(place, a_record())
    os.chmod(place.record, 0o644)
    with pytest.raises(UnsafePermissions, match=r"daemon\.json"):
        records.read(place)
    os.chmod(place.record, 0o600)
    os.chmod(place.run, 0o755)
    with pytest.raises(UnsafePermissions, match="run is open"):
        records.read(place)
    os.chmod(place.run, 0o700)
    os.rename(place.record, place.record + ".real")
    os.symlink(place.record + ".real", place.record)
    with pytest.raises(UnsafePermissions, match="symbolic link"):
        records.read(place)


def test_only_its_own_record_is_withdrawn(place: Layout) -> None:
    """A daemon on its way out leaves its successor's record alone."""
    assert not records.withdraw(place, "mine")
    records.publish(place, a_record("successor"))
    assert not records.withdraw(place, "mine")
    assert records.read(place) == a_record("successor")
    assert records.withdraw(place, "successor")
    assert records.read(place) is None


def test_a_record_that_cannot_be_removed_is_left(
    place: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run folder that became read-only does not stop the way out either."""
    records.publish(place, a_record("mine"))

    def refuse(path: str) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(os, "unlink", refuse)
    assert not records.withdraw(place, "mine")


def test_a_damaged_record_is_not_withdrawn(place: Layout) -> None:
    """What can't be read as ours is left alone and does not stop the way out."""
    Path(place.record).write_text("{")
    os.chmod(place.record, 0o600)
    assert not records.withdraw(place, "mine")
    assert Path(place.record).exists()


def test_boot_and_host_are_stable() -> None:
    """Two looks at one machine agree."""
    assert records.boot_id() == records.boot_id()
    assert records.host_id() == records.host_id()
