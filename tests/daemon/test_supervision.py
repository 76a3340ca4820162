"""What the daemon notices about itself: lock, folder, record, idleness; and its log."""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path

from tests.daemon.conftest import Starter
from tests.harness.waiting import eventually, never


def test_a_deleted_lock_file_ends_it(start: Starter, data: Path) -> None:
    """Whoever deletes the lock could start a second owner, so the first one leaves."""
    daemon = start(supervise_s=0.1).ready()
    (data / "run" / "daemon.lock").unlink()
    assert daemon.exit_code() == 0
    assert not daemon.record_path.exists()


def test_a_deleted_folder_ends_it(start: Starter, data: Path) -> None:
    """Without its data folder the daemon has nothing to serve."""
    daemon = start(supervise_s=0.1).ready()
    shutil.rmtree(data)
    assert daemon.exit_code() == 0


def test_a_deleted_or_broken_record_is_published_again(start: Starter) -> None:
    """The owner's record heals: clients find the daemon again without help."""
    daemon = start(supervise_s=0.1).ready()
    instance = daemon.record["instance"]
    daemon.record_path.unlink()
    eventually(daemon.record_path.exists)
    daemon.record_path.write_bytes(b"garbage")
    eventually(lambda: b"instance" in daemon.record_path.read_bytes())
    assert daemon.record["instance"] == instance


def test_an_idle_spawned_daemon_leaves(start: Starter) -> None:
    """After the idle time without a request it goes, and says why."""
    daemon = start("--managed-by", "spawn", supervise_s=0.1, idle_exit_s=0.5).ready()
    assert daemon.exit_code(within=10) == 0
    assert b"idle" in (daemon.data / "run" / "last-exit.json").read_bytes()


def test_a_service_never_leaves_for_idleness(start: Starter) -> None:
    """Under a service manager, or in the foreground, idle exit is off."""
    daemon = start("--managed-by", "systemd", supervise_s=0.1, idle_exit_s=0.2).ready()
    never(lambda: daemon.process.poll() is not None, during=1.0)


def test_an_open_stream_is_use(start: Starter, tmp_path: Path) -> None:
    """While somebody follows changes the daemon stays."""
    daemon = start("--managed-by", "spawn", supervise_s=0.1, idle_exit_s=0.3).ready()
    client = daemon.client(tmp_path)
    with socket.create_connection(("127.0.0.1", daemon.port)) as stream:
        head = f"GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\n"
        stream.sendall(f"{head}Authorization: Bearer {client.token}\r\n\r\n".encode())
        assert stream.recv(100).startswith(b"HTTP/1.1 200")
        never(lambda: daemon.process.poll() is not None, during=1.0)
    assert daemon.exit_code(within=10) == 0


def test_the_watchdog_hears_the_loop(start: Starter, tmp_path: Path) -> None:
    """WATCHDOG=1 comes twice as often as systemd asks for it."""
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(10)
        start("--managed-by", "systemd", NOTIFY_SOCKET=address, WATCHDOG_USEC="400000")
        heard = [manager.recv(200) for _ in range(3)]
    assert heard[1:] == [b"WATCHDOG=1", b"WATCHDOG=1"]


def test_the_log_is_bounded_and_silent_about_content(start: Starter, tmp_path: Path) -> None:
    """Requests and their failures fill no log, and neither token nor text is in it."""
    daemon = start(log_level="debug", log_bytes=65_536).ready()
    client = daemon.client(tmp_path)
    client.store("the launch code is 4711-xyzzy", tags=["xyzzy-tag"])
    client.recall("xyzzy-query")
    for _ in range(300):
        client.get("/v1/health")
        client.post("/v1/memories", {"content": 1})
        client.as_token("rk_wrong").get("/v1/memories")
    size = sum(path.stat().st_size for path in (daemon.data / "run").glob("daemon.log*"))
    assert size < 3 * 65_536
    text = daemon.log()
    assert "xyzzy" not in text
    assert client.token is not None
    assert client.token[3:] not in text
    assert daemon.secret not in text
    assert all(json.loads(line)["at"] for line in text.splitlines())


def test_the_environment_of_the_starter_is_forgotten(start: Starter) -> None:
    """What the daemon does not need does not shape it: a hostile environment changes nothing."""
    hostile = {"PYTHONPATH": "/nowhere", "HTTP_PROXY": "http://127.0.0.1:9", "LANG": "C"}
    daemon = start(**hostile, TZ="Asia/Tokyo")
    assert daemon.ready().http().get("/v1/health").status == 200
    assert os.environ.get("HTTP_PROXY") is None
