"""A cold machine: whoever comes first starts the daemon, and nobody else does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from recalld.auth import tokens

from tests.harness import processes
from tests.harness.cli import Cli
from tests.harness.crowd import released_together
from tests.harness.daemons import Daemon
from tests.harness.environment import rounds
from tests.harness.waiting import eventually

CLIENTS = 64


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_crowd_on_a_cold_machine_starts_one_daemon(recalld: Cli, any_daemon: Daemon) -> None:
    """64 clients released at once all get their answer, from exactly one daemon, without error."""
    for turn in range(rounds(1)):
        calls = [
            ("store", f"crowd note {turn} {n}", "--json")
            if n % 2
            else ("recall", f"crowd note {n}", "--json")
            for n in range(CLIENTS)
        ]
        done = released_together(recalld, calls)
        assert [(d.returncode, d.stderr) for d in done if d.returncode != 0] == []
        for answer in done:
            assert "hits" in answer.stdout or "id" in answer.stdout
            json.loads(answer.stdout)
            assert "Traceback" not in answer.stderr
        assert any_daemon.pids() == [any_daemon.pid]
        stored = json.loads(recalld.ok("status", "--json"))["memories"]
        assert stored == (turn + 1) * CLIENTS // 2
        any_daemon.kill()


def test_a_first_command_in_a_pipe_returns_and_leaves_the_daemon(
    recalld: Cli, any_daemon: Daemon
) -> None:
    """`out=$(recalld recall x)` with no daemon running ends while the new daemon lives on."""
    done = subprocess.run(
        ["/bin/sh", "-c", 'out=$(recalld recall x 2>/dev/null); echo "$?"; recalld recall x | cat'],
        cwd=recalld.cwd,
        env=recalld.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "0"
    assert processes.exists(any_daemon.pid)


def test_a_spawned_daemon_holds_nothing_of_its_caller(recalld: Cli, any_daemon: Daemon) -> None:
    """Its own session, no inherited pipe, folder or descriptor, and only listed variables."""
    noise = {
        "AWS_SECRET_ACCESS_KEY": "s3cret",
        "VIRTUAL_ENV": "/nowhere",
        "RECALLD_TOKEN": tokens.mint(),
        "SOME_TOOL_TOKEN": "t",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "PYTHONSTARTUP": "/nowhere/startup.py",
    }
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    try:
        process = subprocess.Popen(
            ["recalld", "start"],
            cwd=recalld.cwd,
            env=recalld.env | noise,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[write_end],
        )
        assert process.wait(timeout=30) == 0
    finally:
        os.close(write_end)
    # Everybody has closed the write end, or this read would not come to its end.
    os.set_blocking(read_end, False)
    assert os.read(read_end, 1) == b""
    os.close(read_end)

    pid = any_daemon.pid
    assert os.getsid(pid) == pid or os.getsid(pid) != os.getsid(0)
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    environ = processes.environ(pid)
    for name in ("AWS_SECRET_ACCESS_KEY", "VIRTUAL_ENV", "SOME_TOOL_TOKEN", "HTTP_PROXY"):
        assert name not in environ
    assert "RECALLD_TOKEN" not in environ
    held = [target for target in processes.open_files(pid).values() if str(recalld.cwd) in target]
    assert held == []


def test_the_daemon_starts_again_after_a_kill(recalld: Cli, any_daemon: Daemon) -> None:
    """After kill -9 the next command is served by a new daemon that has every acknowledged row."""
    stored = recalld.json("store", "the build needs twelve minutes")
    first = any_daemon.kill()
    assert any_daemon.record_path.exists()
    shown = recalld.json("show", str(stored["id"]))
    assert shown["content"] == "the build needs twelve minutes"
    assert any_daemon.pid != first
    assert any_daemon.pids() == [any_daemon.pid]


def test_a_lost_record_is_published_again(recalld: Cli, daemon: Daemon) -> None:
    """`rm daemon.json` under a running daemon still leaves one daemon, which can be found again."""
    pid = daemon.pid
    daemon.record_path.unlink()
    recalld.ok("recall", "anything")
    eventually(lambda: len(daemon.pids()) == 1, within=15)
    eventually(lambda: daemon.published, within=15)
    assert daemon.pids() == [daemon.pid]
    assert daemon.pid == pid or not processes.exists(pid)


def test_a_lost_lock_file_leaves_one_daemon(recalld: Cli, daemon: Daemon) -> None:
    """`rm daemon.lock` under a running daemon ends with one daemon per store."""
    locks = list(daemon.data.rglob("daemon.lock"))
    assert len(locks) == 1
    locks[0].unlink()
    recalld.ok("store", "written while the lock was gone")
    eventually(lambda: len(daemon.pids()) == 1 and daemon.published, within=30)
    hits = recalld.json("recall", "written while the lock was gone")["hits"]
    assert len(hits) == 1
    assert len(daemon.pids()) == 1


def test_a_stopped_daemon_ends_the_client_with_a_reason(recalld: Cli, daemon: Daemon) -> None:
    """A daemon under SIGSTOP costs the client its deadline and one clear sentence, nothing more."""
    pid = daemon.pid
    processes.send(pid, signal.SIGSTOP)
    try:
        done = recalld("recall", "anything", "--timeout", "3", timeout=20)
    finally:
        processes.send(pid, signal.SIGCONT)
    assert done.returncode == 75, done.stderr
    assert str(pid) in done.stderr or "daemon" in done.stderr
    assert "Traceback" not in done.stderr
    assert daemon.pids() == [pid]
    recalld.ok("recall", "anything")


@pytest.mark.parametrize("runtime", ["", "/nonexistent/run", "{tmp}/run"])
def test_every_session_finds_the_same_daemon(
    recalld: Cli, daemon: Daemon, tmp_path: Path, runtime: str
) -> None:
    """Cron, login and desktop environments differ in their runtime folders, not in their daemon."""
    env = {"XDG_RUNTIME_DIR": runtime.format(tmp=tmp_path), "TMPDIR": "/nonexistent"}
    status = recalld("status", "--json", env=env)
    assert json.loads(status.stdout)["pid"] == daemon.pid
    assert daemon.pids() == [daemon.pid]
