"""Daemons as the operating system sees them: found, inspected and ended by pid."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from tests.harness.waiting import eventually

PROC = Path("/proc")
KILL = signal.SIGKILL


def exists(pid: int) -> bool:
    """Whether `pid` runs; a zombie does not count."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return not PROC.exists()
    return state != "Z"


def environ(pid: int) -> dict[str, str]:
    """The environment `pid` was started with (Linux), empty where it cannot be read."""
    try:
        raw = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return {}
    pairs = (item.partition(b"=") for item in raw.split(b"\0") if item)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def command(pid: int) -> list[str]:
    """The argument vector of `pid` (Linux), empty where it cannot be read."""
    try:
        raw = (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return []
    return [os.fsdecode(word) for word in raw.split(b"\0") if word]


def parent(pid: int) -> int:
    """The process that started `pid` (Linux), 0 where it cannot be read."""
    try:
        return int((PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def is_daemon_of(pid: int, data: Path) -> bool:
    """Whether `pid` is a recalld daemon whose data folder is `data`."""
    return "recalld.daemon" in command(pid) and environ(pid).get("RECALLD_HOME") == str(data)


def daemons_of(data: Path) -> list[int]:
    """Every running daemon of the data folder `data`, by looking at all processes (Linux)."""
    if not PROC.exists():
        return []
    pids = [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]
    return sorted(pid for pid in pids if is_daemon_of(pid, data) and exists(pid))


def gone(pid: int) -> bool:
    """Whether `pid` has ended; collects it if it was our own child, lest it stay as a zombie."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return not exists(pid)


def send(pid: int, number: signal.Signals) -> None:
    """Signal `pid` unless it is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def end(pid: int, *, within: float = 6.0) -> None:
    """End a process this test started: politely first, then for good."""
    send(pid, signal.SIGCONT)
    send(pid, signal.SIGTERM)
    try:
        eventually(lambda: gone(pid), within=within)
    except AssertionError:
        send(pid, signal.SIGKILL)
        eventually(lambda: gone(pid), within=within)


def resident_bytes(pid: int) -> int:
    """Resident memory of `pid` (Linux)."""
    pages = (PROC / str(pid) / "statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float:
    """User and system time of `pid` so far (Linux)."""
    fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_files(pid: int) -> dict[int, str]:
    """What each descriptor of `pid` points at (Linux)."""
    found: dict[int, str] = {}
    for entry in (PROC / str(pid) / "fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[int(entry.name)] = os.readlink(entry)
    return found
