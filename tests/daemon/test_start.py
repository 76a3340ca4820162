"""Starting: lock, folders, ready line, record, exit codes."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from pathlib import Path

import apsw
import pytest

from tests.daemon.conftest import Starter
from tests.daemon.raw import connect
from tests.harness import processes
from tests.harness.waiting import eventually


def test_a_ready_daemon_is_published_and_answers(start: Starter) -> None:
    """When the ready line says ok, the record names a port that answers and proves itself."""
    daemon = start()
    line = daemon.line()

    assert line == {"ok": True, "instance": daemon.record["instance"]}
    assert daemon.http().get("/v1/health").json == {"status": "ok", "phase": "ready"}


def test_sigterm_ends_it_cleanly(start: Starter, data: Path) -> None:
    """SIGTERM: exit 0, the record is gone, the lock file stays, the reason is noted."""
    daemon = start().ready()
    daemon.signal()

    assert daemon.exit_code() == 0
    assert not daemon.record_path.exists()
    assert (data / "run" / "daemon.lock").exists()
    assert b"SIGTERM" in (data / "run" / "last-exit.json").read_bytes()
    assert not (data / "memory.db-wal").exists()


def test_a_second_daemon_reports_the_first(start: Starter) -> None:
    """The lock is busy: exit 75, and the ready line says who has it."""
    first = start().ready()
    second = start()

    line = second.line()
    assert line["code"] == "already_running"
    assert str(first.process.pid) in line["message"]
    assert second.exit_code() == 75


def test_a_successor_waits_for_the_lock(start: Starter) -> None:
    """With --wait-lock the next daemon starts the moment the first one is gone."""
    first = start().ready()
    second = start("--wait-lock", "15")
    first.signal()

    assert second.ready().pid == second.process.pid
    assert first.exit_code() == 0


def test_a_service_takes_over_from_a_spawned_daemon(start: Starter) -> None:
    """--takeover drains a daemon that a client had spawned, and starts in its place."""
    first = start("--managed-by", "spawn").ready()
    second = start("--managed-by", "systemd", "--takeover")

    assert second.ready().record["managed_by"] == "systemd"
    assert first.exit_code() == 0


def test_a_service_does_not_take_over_from_another_service(start: Starter) -> None:
    """--takeover leaves alone what it did not find spawned."""
    first = start("--managed-by", "systemd").ready()

    assert start("--takeover").exit_code() == 75
    assert first.http().get("/v1/health").status == 200


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"workers": "many"}, "workers"), ({"idle_exit_s": "-1"}, "idle_exit_s")],
)
def test_an_impossible_setting_is_named(
    start: Starter, settings: dict[str, object], named: str
) -> None:
    """A setting with an impossible value: exit 78 and its name."""
    daemon = start(**settings)

    line = daemon.line()
    assert line["code"] == "invalid_settings"
    assert named in line["message"]
    assert daemon.exit_code() == 78


def test_a_newer_schema_is_refused_with_both_numbers(start: Starter, data: Path) -> None:
    """A memory.db written by a newer recalld: exit 78, and nothing is published."""
    start().ready().end()
    with contextlib.closing(apsw.Connection(str(data / "memory.db"))) as db:
        db.execute("PRAGMA user_version = 999")
    daemon = start()

    line = daemon.line()
    assert line["code"] == "schema_newer"
    assert "999" in line["message"]
    assert daemon.exit_code() == 78
    assert not daemon.record_path.exists()


def test_a_folder_open_to_others_is_refused_with_the_remedy(start: Starter, data: Path) -> None:
    """A run folder others can read: exit 78 and the chmod that mends it."""
    (data / "run").mkdir(parents=True)
    data.chmod(0o700)
    (data / "run").chmod(0o755)
    daemon = start()

    line = daemon.line()
    assert line["code"] == "unsafe_permissions"
    assert "chmod" in line["message"] + line["hint"]
    assert daemon.exit_code() == 78


def test_no_file_is_open_to_others(start: Starter, data: Path) -> None:
    """Whatever the caller's umask, every file is 0600 and every folder 0700."""
    before = os.umask(0)
    try:
        daemon = start()
    finally:
        os.umask(before)
    daemon.ready().client(data.parent).store("private")

    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [data, *data.rglob("*")]}
    assert not [path for path, mode in modes.items() if mode & 0o077]


def test_it_keeps_nothing_of_its_starter(start: Starter) -> None:
    """No inherited pipe stays open, and the folder it was started in can be removed."""
    daemon = start("--managed-by", "spawn").ready()
    links = processes.open_files(daemon.pid)

    eventually(
        lambda: not [1 for link in processes.open_files(daemon.pid).values() if "pipe" in link]
    )
    assert Path(f"/proc/{daemon.pid}/cwd").readlink() == Path("/")
    assert links[1].endswith("daemon.log")


def test_notifications_come_in_order(start: Starter, tmp_path: Path) -> None:
    """READY=1 comes when requests are answered, STOPPING=1 when the end begins."""
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(15)
        daemon = start("--managed-by", "systemd", NOTIFY_SOCKET=address)
        assert manager.recv(200).startswith(b"READY=1")
        connect(daemon.port).close()
        daemon.signal()
        assert manager.recv(200).startswith(b"STOPPING=1")
