"""Two versions on one machine: one replacement when it helps, a sentence when it does not."""

from __future__ import annotations

import json
from pathlib import Path

from tests.harness import processes
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.installations import Installation
from tests.harness.waiting import eventually


def test_a_newer_client_replaces_an_older_daemon_once(
    recalld: Cli, daemon: Daemon, tmp_path: Path
) -> None:
    """A client the daemon is too old for drains it, and its successor has every memory."""
    recalld.ok("store", "written under the old version")
    old = daemon.pid
    newer = Installation(tmp_path, "0.9.0", (2, 2))
    done = newer.run(recalld, "recall", "written under the old version")
    assert done.returncode == 0, done.stderr
    assert "written under the old version" in done.stdout
    eventually(lambda: processes.gone(old))
    new = daemon.pid
    assert daemon.record["version"] == "0.9.0"
    for _ in range(3):
        assert newer.run(recalld, "recall", "anything").returncode == 0
    assert daemon.pids() == [new]


def test_an_older_client_gets_a_sentence(recalld: Cli, any_daemon: Daemon, tmp_path: Path) -> None:
    """A client that is too old for the daemon says so, and never ends it."""
    newer = Installation(tmp_path, "0.9.0", (2, 2))
    assert newer.run(recalld, "start").returncode == 0
    pid = any_daemon.pid
    for _ in range(3):
        done = recalld("recall", "anything")
        assert done.returncode == 78, done
        assert "pgrade" in done.stderr
        assert "0.9.0" in done.stderr
    assert any_daemon.pids() == [pid]


def test_versions_that_speak_the_same_api_share_a_daemon(
    recalld: Cli, daemon: Daemon, tmp_path: Path
) -> None:
    """Another package version alone is no reason to replace anything, in either direction."""
    pid = daemon.pid
    other = Installation(tmp_path, "0.2.0", (1, 2))
    for _ in range(2):
        assert other.run(recalld, "recall", "anything").returncode == 0
        recalld.ok("recall", "anything")
    assert daemon.pids() == [pid]


def test_a_daemon_of_deleted_code_is_still_used(
    recalld: Cli, any_daemon: Daemon, tmp_path: Path
) -> None:
    """A daemon whose installation was upgraded under it keeps answering."""
    other = Installation(tmp_path, "0.2.0", (1, 1))
    assert other.run(recalld, "start").returncode == 0
    pid = any_daemon.pid
    init = other.root / "site" / "recalld" / "__init__.py"
    init.write_text(init.read_text() + "\n# upgraded in place\n")
    status = json.loads(recalld.ok("status", "--json"))
    assert status["pid"] == pid
    recalld.ok("recall", "anything")
