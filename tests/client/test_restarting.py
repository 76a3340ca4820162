"""`recalld restart`: a daemon that works is not given up for one that could not start."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.cli import Cli
from tests.harness.daemons import Daemon

WRONG = ['embedder = "minlm"\n', "wrokers = 3\n", "workers = = 3\n", 'embedder = "onnx"\n']


@pytest.fixture
def config(recalld: Cli, any_daemon: Daemon, data: Path) -> Path:
    """The settings of a daemon that runs; there is no such file yet."""
    recalld.ok("store", "kept all along")
    assert any_daemon.published
    return data / "config.toml"


@pytest.mark.parametrize("text", WRONG)
def test_wrong_settings_leave_the_daemon_running(recalld: Cli, config: Path, text: str) -> None:
    """The restart is refused as a start would be, and nothing else happens."""
    before = recalld.json("status")["pid"]
    config.write_text(text)
    config.chmod(0o600)
    done = recalld("restart")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (78, "", 1)
    assert "The daemon was not restarted: " in done.stderr
    assert recalld.json("status")["pid"] == before
    recalld.ok("stop")
    refused = recalld("start")
    told = done.stderr.replace("was not restarted", "did not start")
    assert (refused.returncode, refused.stderr) == (78, told)


def test_a_wrong_variable_counts_too(recalld: Cli, config: Path) -> None:
    """The new daemon would get the environment of whoever restarts it."""
    assert not config.exists()
    before = recalld.json("status")["pid"]
    done = recalld("restart", env={"RECALLD_WORKERS": "none"})
    assert (done.returncode, recalld.json("status")["pid"]) == (78, before)
    assert "RECALLD_WORKERS" in done.stderr


def test_right_settings_are_taken_over(recalld: Cli, config: Path) -> None:
    """A new process runs, and what was kept is there."""
    before = recalld.json("status")["pid"]
    config.write_text("workers = 3\n")
    config.chmod(0o600)
    recalld.ok("restart")
    assert recalld.json("status")["pid"] != before
    assert "kept all along" in recalld.ok("recall", "kept all along")


def test_a_refused_restart_is_no_failed_start(recalld: Cli, config: Path) -> None:
    """The log of the daemon that goes on has nothing of it, so `doctor` finds no failure there."""
    config.write_text("nonsense = true\n")
    config.chmod(0o600)
    assert recalld("restart").returncode == 78
    assert "nonsense" not in recalld.ok("logs")
