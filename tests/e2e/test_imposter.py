"""Someone else on the published port, and records nobody should trust."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness import processes
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.jsontypes import JsonObject
from tests.harness.waiting import eventually

ANSWERS = {
    "friendly": '{"ok":true,"status":"ok","version":"0.1.0"}',
    "forged": json.dumps(
        {
            "instance": "x",
            "version": "0.1.0",
            "api": [1, 1],
            "phase": "ready",
            "stale_code": False,
            "mac": "0" * 64,
        }
    ),
    "nonsense": "[[[[",
}


def accepts(port: int) -> bool:
    """Whether anybody listens on `port`."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def move_record(daemon: Daemon) -> int:
    """Kill the daemon and let its record name a port that is free for certain; returns the port.

    The old port itself may be taken by any other process of the machine before a test gets it.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    record = daemon.record
    daemon.kill()
    daemon.record_path.write_text(json.dumps(record | {"port": port}))
    return port


@pytest.fixture
def rogue(shared: Path, tmp_path: Path) -> Iterator[Callable[[int, str], Path]]:
    """Starts the rogue server on a port; returns the file it logs every request to."""
    started: list[subprocess.Popen[bytes]] = []

    def start(port: int, answer: str) -> Path:
        log = tmp_path / "rogue.log"
        script = shared / "cases" / "rogue_server.py"
        command = [sys.executable, str(script), str(port), str(log), answer]
        started.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        eventually(lambda: accepts(port))
        return log

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize("answer", sorted(ANSWERS))
def test_an_imposter_learns_nothing(
    recalld: Cli, daemon: Daemon, rogue: Callable[[int, str], Path], answer: str
) -> None:
    """Another program on a dead daemon's port gets no token and no text; a new daemon answers."""
    recalld.ok("store", "a secret plan", "--json")
    token = next(recalld.cwd.glob(".recalld/token")).read_text().strip()
    secret = daemon.secret
    port = move_record(daemon)
    log = rogue(port, ANSWERS[answer])
    assert "a secret plan" in recalld.ok("recall", "a secret plan")
    recalld.ok("store", "another secret plan")
    seen = log.read_text() if log.exists() else ""
    assert token not in seen
    assert secret not in seen
    assert "secret plan" not in seen
    assert "Authorization" not in seen
    assert daemon.port != port


def test_a_silent_imposter_does_not_hold_anybody_up(recalld: Cli, daemon: Daemon) -> None:
    """A port that takes connections and never answers is given up on, and a new daemon started."""
    port = move_record(daemon)
    with socket.create_server(("127.0.0.1", port), backlog=8):
        recalld.ok("recall", "anything")
    assert daemon.port != port


def test_no_foreign_process_is_ever_signalled(recalld: Cli, daemon: Daemon) -> None:
    """A record that names somebody else's pid starts a new daemon and leaves that process alone."""
    with subprocess.Popen(["sleep", "999"]) as bystander:
        try:
            record = daemon.record
            daemon.kill()
            daemon.record_path.write_text(json.dumps(record | {"pid": bystander.pid}))
            recalld("stop")
            recalld("restart")
            recalld.ok("recall", "anything")
            assert bystander.poll() is None
            assert daemon.pid != bystander.pid
        finally:
            bystander.kill()


STALE: dict[str, Callable[[JsonObject], Any]] = {
    "empty": lambda _: b"",
    "garbage": lambda _: b"\x00\xff" * 100,
    "half": lambda record: json.dumps(record).encode()[:40],
    "a list": lambda _: b"[]",
    "deep": lambda _: b"[" * 100_000,
    "huge": lambda record: json.dumps(record | {"x": "y" * 1_000_000}).encode(),
    "another boot": lambda record: record | {"boot_id": "0" * 36},
    "another host": lambda record: record | {"host_id": "elsewhere"},
    "a remote address": lambda record: record | {"host": "192.0.2.1"},
    "a bad port": lambda record: record | {"port": 99_999},
    "a text port": lambda record: record | {"port": "80; rm"},
    "port zero": lambda record: record | {"port": 0},
    "a short secret": lambda record: record | {"secret": "00"},
    "a secret without hex": lambda record: record | {"secret": "z" * 64},
    "an unknown shape": lambda record: record | {"schema": 999},
    "nothing inside": lambda _: b"{}",
}


@pytest.mark.parametrize("kind", STALE)
def test_a_stale_record_heals(recalld: Cli, daemon: Daemon, kind: str) -> None:
    """Whatever a dead daemon's record says, the next command starts a daemon and succeeds."""
    record = daemon.record
    first = daemon.kill()
    content = STALE[kind](record)
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    daemon.record_path.write_bytes(raw)
    recalld.ok("recall", "anything")
    assert daemon.pid != first
    assert daemon.pids() == [daemon.pid]


def test_a_wrong_record_under_a_live_daemon_heals(recalld: Cli, daemon: Daemon) -> None:
    """Garbage over a live daemon's record is repaired; there is still one daemon."""
    daemon.record_path.write_bytes(b"garbage")
    recalld.ok("recall", "anything")
    eventually(lambda: len(daemon.pids()) == 1, within=15)


def loosen_folder(daemon: Daemon) -> tuple[Path, str]:
    """Make the run folder readable to others."""
    daemon.record_path.parent.chmod(0o755)
    return daemon.record_path.parent, "chmod 700"


def loosen_record(daemon: Daemon) -> tuple[Path, str]:
    """Make the record readable to others."""
    daemon.record_path.chmod(0o644)
    return daemon.record_path, "chmod 600"


@pytest.mark.parametrize("loosen", [loosen_folder, loosen_record])
def test_loose_modes_are_refused_with_the_remedy(
    recalld: Cli, daemon: Daemon, loosen: Callable[[Daemon], tuple[Path, str]]
) -> None:
    """A record or folder open to others is not used; the message holds the exact chmod."""
    path, remedy = loosen(daemon)
    done = recalld("recall", "anything")
    assert done.returncode == 78, done
    assert f"{remedy} {path}" in done.stderr.replace("'", "")
    subprocess.run([*remedy.split(), str(path)], check=True)
    recalld.ok("recall", "anything")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("which", ["run", "daemon.json"])
def test_a_strangers_files_are_refused(recalld: Cli, daemon: Daemon, which: str) -> None:
    """A record or folder of another user is not used, and the message says how to take it back."""
    path = daemon.record_path if which == "daemon.json" else daemon.record_path.parent
    os.chown(path, 65534, 65534)
    done = recalld("recall", "anything")
    os.chown(path, 0, 0)
    assert done.returncode == 78, done
    assert "chown" in done.stderr
    recalld.ok("recall", "anything")


def test_a_symlinked_record_is_not_followed(recalld: Cli, daemon: Daemon, tmp_path: Path) -> None:
    """A record that is a symbolic link is refused or replaced, never followed."""
    daemon.kill()
    target = tmp_path / "elsewhere.json"
    daemon.record_path.rename(target)
    before = target.read_bytes()
    daemon.record_path.symlink_to(target)
    done = recalld("recall", "anything")
    assert target.read_bytes() == before
    if done.returncode != 0:
        assert done.returncode == 78, done.stderr
        assert "symbolic link" in done.stderr
        daemon.record_path.unlink()
        recalld.ok("recall", "anything")
    assert not daemon.record_path.is_symlink()


def test_the_folder_of_a_reused_data_dir_is_private(recalld: Cli, daemon: Daemon) -> None:
    """Everything the product creates is for its user alone."""
    recalld.ok("store", "private")
    loose = [
        (str(path), oct(path.stat().st_mode))
        for path in [daemon.data, *daemon.data.rglob("*"), *recalld.cwd.glob(".recalld/**/*")]
        if not path.is_symlink() and path.stat().st_mode & 0o077
    ]
    assert [item for item in loose if ".gitignore" not in item[0]] == []


def test_a_killed_starter_does_not_wedge_the_next(recalld: Cli, any_daemon: Daemon) -> None:
    """A client that dies in the middle of starting a daemon leaves nothing in the way."""
    started = recalld.start("recall", "anything")
    eventually(lambda: any_daemon.data.exists() or started.poll() is not None)
    started.send_signal(signal.SIGKILL)
    started.communicate()
    recalld.ok("recall", "anything")
    eventually(lambda: len(any_daemon.pids()) == 1, within=15)
    assert processes.exists(any_daemon.pid)
