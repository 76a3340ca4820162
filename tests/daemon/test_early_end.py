"""A start that does not come to its end: stopped by a signal, refused, or never answered."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from recalld.auth import paths, record, tokens
from recalld.auth.record import API, Record
from recalld.daemon.life import takeover

from tests.daemon.conftest import Starter
from tests.harness.waiting import eventually

EARLY = """
import signal, sys
from recalld.daemon import process
from recalld.daemon.main import main

class Early(process.Server):
    async def startup(self, sockets=None):
        self._on_signal(signal.SIGTERM)
        await super().startup(sockets)

process.Server = Early
sys.exit(main([]))
"""


def launched(data: Path, *arguments: str) -> subprocess.Popen[str]:
    """A daemon of this folder whose stderr can be read, as one in the foreground."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(data.parent), "RECALLD_HOME": str(data)}
    return subprocess.Popen(
        [sys.executable, "-P", *arguments],
        env=environ,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_start_is_interrupted_without_a_word(
    start: Starter, data: Path, number: signal.Signals
) -> None:
    """Ctrl-C, a hang-up or SIGTERM while it waits for the lock: status 0 and no traceback."""
    start().ready()
    waiting = launched(data, "-m", "recalld.daemon", "--wait-lock", "20")
    eventually(lambda: _catches(waiting.pid, signal.SIGHUP))
    waiting.send_signal(number)
    _, said = waiting.communicate(timeout=10)
    assert (waiting.returncode, said) == (0, "")


def test_a_refused_start_says_one_sentence(start: Starter, data: Path) -> None:
    """The second daemon's stderr is the reason and nothing else; exit 75."""
    first = start().ready()
    second = launched(data, "-m", "recalld.daemon")
    _, said = second.communicate(timeout=20)
    assert second.returncode == 75
    assert said.startswith("recalld: ")
    assert said.count("\n") == 1
    assert str(first.pid) in said


def test_launchd_is_not_made_to_try_for_ever(start: Starter, data: Path) -> None:
    """What another start would not mend ends in 0 under launchd, with the reason noted."""
    start().ready()
    second = launched(data, "-m", "recalld.daemon", "--managed-by", "launchd")
    second.communicate(timeout=20)
    assert second.returncode == 0
    assert b"owns" in (data / "run" / "last-exit.json").read_bytes()


def test_a_signal_before_the_announcement_is_kept(data: Path) -> None:
    """A SIGTERM that comes before the record is published: it never is, and the end comes."""
    early = launched(data, "-c", EARLY)
    early.communicate(timeout=30)
    assert early.returncode == 0
    assert '"message": "ready"' not in (data / "run" / "daemon.log").read_text()


def test_a_trickling_peer_does_not_hold_a_takeover_up(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger on the published port that sends a byte now and then is given up as a whole."""
    layout = paths.layout({"RECALLD_HOME": str(data)})
    paths.ensure_private_dir(layout.data)
    paths.ensure_private_dir(layout.run)
    monkeypatch.setattr(takeover, "PATIENCE", 0.5)
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        record.publish(layout, _spawned(listening.getsockname()[1]))
        thread = threading.Thread(target=_trickle, args=(listening, done))
        thread.start()
        begun = time.monotonic()
        assert not takeover.ask_to_leave(layout)
        assert time.monotonic() - begun < 3
        done.set()
        thread.join(5)


def _trickle(listening: socket.socket, done: threading.Event) -> None:
    peer, _ = listening.accept()
    with contextlib.closing(peer), contextlib.suppress(OSError):
        peer.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while not done.wait(0.1):
            peer.sendall(b"x")


def _spawned(port: int) -> Record:
    return Record(
        instance="strange",
        pid=os.getpid(),
        boot_id=record.boot_id(),
        host_id=record.host_id(),
        host="127.0.0.1",
        port=port,
        secret=tokens.digest("secret"),
        version="0.1.0",
        api=API,
        managed_by="spawn",
        started_at="2026-01-01T00:00:00.000Z",
    )


def _catches(pid: int, number: signal.Signals) -> bool:
    """Whether the process has a handler for the signal by now."""
    with contextlib.suppress(FileNotFoundError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False
