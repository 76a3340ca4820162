"""A full disk: a clear error, nothing half-written, reads go on, and it recovers by itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.http import Http
from tests.harness.waiting import eventually

SIZE = "16m"


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """The data folder on a file system of 16 MB."""
    mounted = tmp_path / "small"
    mounted.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", str(mounted)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"a small file system needs root: {done.stderr.strip()}")
    yield mounted / "data"
    subprocess.run(["umount", "--lazy", str(mounted)], check=True)


def fill(folder: Path) -> Path:
    """A file that takes all the space there is."""
    ballast = folder / "ballast"
    with ballast.open("wb") as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    os.write(file.fileno(), b"\0" * size)
            except OSError:
                continue
    return ballast


@pytest.mark.destructive
def test_a_full_disk_refuses_writes_and_recovers(daemon: Daemon, http: Http, data: Path) -> None:
    """Writes get 507, reads keep working, and with space back writes work without a restart."""
    kept = [http.store(f"kept note {n}") for n in range(20)]
    ballast = fill(data.parent)
    pid = daemon.pid
    refused = 0
    for n in range(30):
        reply = http.post("/v1/memories", {"content": f"note {n} " + "x" * 30_000})
        if reply.status in {200, 201}:
            kept.append(reply.json["id"])
        else:
            assert (reply.status, reply.code) == (507, "disk_full"), reply
            assert reply.json["error"]["hint"]
            refused += 1
    assert refused > 0
    assert http.recall("kept note")
    assert http.get(f"/v1/memories/{kept[0]}").status == 200
    assert http.get("/v1/health").status == 200

    ballast.unlink()
    eventually(lambda: http.post("/v1/memories", {"content": "space again"}).status == 201)
    for ident in kept:
        assert http.get(f"/v1/memories/{ident}").status == 200
    listed = http.get("/v1/memories?limit=100").json["items"]
    assert len(listed) == len(kept) + 1
    assert daemon.pid == pid
    leftovers = [path.name for path in data.rglob("*.tmp*")]
    assert leftovers == []


@pytest.mark.destructive
def test_a_daemon_does_not_start_on_a_full_disk_without_saying_so(
    recalld: Cli, any_daemon: Daemon, data: Path
) -> None:
    """With no space for a store the first command names the disk, and works once there is space."""
    ballast = fill(data.parent)
    done = recalld("store", "no room for this")
    assert done.returncode == 74, done
    assert "space" in done.stderr
    assert "Traceback" not in done.stderr
    ballast.unlink()
    recalld.ok("store", "room for this")
    assert any_daemon.pids() == [any_daemon.pid]


@pytest.mark.destructive
def test_acknowledged_rows_survive_a_full_disk_and_a_kill(
    recalld: Cli, daemon: Daemon, http: Http, data: Path
) -> None:
    """What was promised before the disk was full is there after kill -9 and a restart."""
    texts: list[str] = []
    ballast = fill(data.parent)
    with ballast.open("r+b") as file:
        file.truncate(ballast.stat().st_size - 1_500_000)
    for n in range(200):
        text = f"row {n} " + "y" * 20_000
        if http.post("/v1/memories", {"content": text}).status != 201:
            break
        texts.append(text)
    assert 0 < len(texts) < 200
    daemon.kill()
    ballast.unlink()
    recalld.ok("start")
    reopened = daemon.http(http.token)
    listed: set[str] = set()
    cursor = ""
    while True:
        page = reopened.get(f"/v1/memories?limit=20{cursor}").json
        listed |= {item["content"] for item in page["items"]}
        if not page["next_cursor"]:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert set(texts) <= listed
