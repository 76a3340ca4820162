"""Data folders that cannot be used: said within seconds, with the path and the remedy."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import apsw
import pytest

from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.waiting import eventually


def refuse(recalld: Cli, data: Path, *words: str) -> str:
    """The one sentence a command ends with when its data folder is no good."""
    started = time.monotonic()
    done = recalld("store", "anything")
    assert done.returncode in {74, 78}, done
    assert time.monotonic() - started < 8
    assert "Traceback" not in done.stderr
    assert str(data) in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
    return done.stderr


def test_a_file_in_place_of_the_folder(recalld: Cli, data: Path) -> None:
    """A file where the data folder should be is named, not replaced."""
    data.write_text("mine")
    refuse(recalld, data)
    assert data.read_text() == "mine"


def test_a_dangling_link(recalld: Cli, data: Path, tmp_path: Path) -> None:
    """A symbolic link to nowhere is named, not followed into being."""
    data.symlink_to(tmp_path / "nowhere")
    refuse(recalld, data)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")
def test_a_strangers_folder(recalld: Cli, data: Path) -> None:
    """Another user's folder is refused with the chown that would make it ours."""
    data.mkdir(mode=0o700)
    os.chown(data, 65534, 65534)
    refuse(recalld, data, "chown")


def test_an_open_folder(recalld: Cli, data: Path) -> None:
    """A folder others can read is refused with the exact chmod, which then helps."""
    data.mkdir(mode=0o755)
    data.chmod(0o755)
    refuse(recalld, data, f"chmod 700 {data}")
    data.chmod(0o700)
    recalld.ok("store", "anything")


@pytest.mark.destructive
def test_a_read_only_file_system(recalld: Cli, data: Path) -> None:
    """A read-only mount is named for what it is."""
    data.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "ro,mode=0700", "tmpfs", str(data)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting needs root")
    try:
        refuse(recalld, data, "ead-only")
    finally:
        subprocess.run(["umount", str(data)], check=True)


def test_a_relative_home(recalld: Cli, data: Path) -> None:
    """A relative RECALLD_HOME would mean a store per folder, and is refused."""
    done = recalld("store", "anything", env={"RECALLD_HOME": "relative/data"})
    assert done.returncode == 78
    assert "absolute" in done.stderr
    assert not data.exists()


def test_an_unknown_setting(recalld: Cli, data: Path) -> None:
    """A misspelt setting stops the start with its name and file."""
    data.mkdir(mode=0o700)
    config = data / "config.toml"
    config.write_text("wrokers = 3\n")
    config.chmod(0o600)
    done = recalld("store", "anything")
    assert done.returncode == 78
    assert "wrokers" in done.stderr
    assert "config.toml" in done.stderr


def test_a_newer_store(recalld: Cli, daemon: Daemon, data: Path) -> None:
    """A store written by a newer version refuses to open, with a remedy and every byte kept."""
    recalld.ok("store", "from the future")
    recalld.ok("stop")
    connection = apsw.Connection(str(data / "memory.db"))
    connection.execute("PRAGMA user_version = 9999")
    connection.close()
    before = (data / "memory.db").read_bytes()
    done = recalld("recall", "anything")
    assert done.returncode == 78
    assert "schema 9999" in done.stderr
    assert "Upgrade" in done.stderr
    assert (data / "memory.db").read_bytes() == before
    eventually(lambda: daemon.pids() == [])


def test_a_damaged_store(recalld: Cli, daemon: Daemon, data: Path) -> None:
    """A store that is not a database any more is refused, named, and left alone."""
    recalld.ok("store", "soon broken")
    recalld.ok("stop")
    path = data / "memory.db"
    raw = bytearray(path.read_bytes())
    raw[:4096] = b"\xaa" * 4096
    path.write_bytes(raw)
    done = recalld("recall", "anything")
    assert done.returncode == 78, done
    assert "memory.db" in done.stderr
    assert path.read_bytes() == bytes(raw)
    eventually(lambda: daemon.pids() == [])
