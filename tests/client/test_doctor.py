"""What `doctor` finds, each as a line with a remedy, the rest of the table all the same."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from tests.harness import processes
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.jsontypes import JsonObject
from tests.harness.waiting import eventually

LAST = "service"
"""The check that ends the table of what is looked at in every case."""

shared_group = pytest.mark.skipif(sys.platform == "darwin", reason="everybody is in the group")


def examined(recalld: Cli) -> tuple[int, dict[str, JsonObject]]:
    """The exit code and the checks by name."""
    done = recalld("doctor", "--json")
    checks: list[JsonObject] = json.loads(done.stdout)["checks"]
    return done.returncode, {str(check["name"]): check for check in checks}


def failures(checks: dict[str, JsonObject]) -> set[str]:
    """The names of what failed."""
    return {name for name, check in checks.items() if check["state"] == "failure"}


@pytest.fixture
def stopped(recalld: Cli, any_daemon: Daemon) -> Path:
    """A data folder with a memory and no daemon."""
    recalld.ok("store", "here before the damage")
    recalld.ok("stop")
    assert not any_daemon.published
    return any_daemon.data


def test_a_healthy_folder_without_a_daemon_passes(recalld: Cli, stopped: Path) -> None:
    """Nothing is wrong with a daemon that was stopped; why it ended is said."""
    code, checks = examined(recalld)
    assert code == 0
    assert "recalld stop" in checks["daemon"]["seen"]
    assert "1 grant can" in checks["grants"]["seen"]
    assert (stopped / "memory.db").exists()


@pytest.mark.parametrize("running", [False, True])
def test_garbage_in_grants(recalld: Cli, stopped: Path, any_daemon: Daemon, running: bool) -> None:
    """Grants that cannot be read are a failure, whose command lets a checkout go on without."""
    if running:
        recalld.ok("start")
    (stopped / "grants.json").write_text("garbage")
    code, checks = examined(recalld)
    assert code == 78
    assert failures(checks) == {"grants"}
    assert LAST in checks
    if running:
        recalld.ok("stop")
    words = shlex.split(str(checks["grants"]["fix"]).rpartition("Or run: ")[2])
    assert words[0] == "mv"
    os.rename(words[1], words[2])
    assert examined(recalld)[0] == 0
    assert not any_daemon.published


def test_a_damaged_store(recalld: Cli, stopped: Path, any_daemon: Daemon) -> None:
    """What the daemon said when it could not open it is told, at once and later, until it could."""
    good = {path: path.read_bytes() for path in stopped.glob("memory.db*")}
    for path in good:
        path.write_bytes(b"no database at all " * 1000)
    assert recalld("list").returncode == 78
    for _ in range(2):
        code, checks = examined(recalld)
        assert code == 78
        assert failures(checks) == {"memory.db"}
        assert "cannot be read" in checks["memory.db"]["seen"]
        assert "backup" in checks["memory.db"]["fix"]
        assert LAST in checks
        assert "holds the lock" not in str(checks)
    for path, content in good.items():
        path.write_bytes(content)
    recalld.ok("start")
    assert any_daemon.published
    recalld.ok("stop")
    assert examined(recalld)[0] == 0


def test_a_setting_that_is_missing(recalld: Cli, stopped: Path) -> None:
    """The start and doctor say which, what it means and in which file to put it."""
    config = stopped / "config.toml"
    config.write_text('embedder = "onnx"\n')
    config.chmod(0o600)
    words = f"'embed_model', the folder of the model. Add it to {config}"
    refused = recalld("start")
    assert refused.returncode == 78
    assert words in refused.stderr
    assert words in examined(recalld)[1]["daemon"]["seen"]


def test_a_start_that_failed(recalld: Cli, stopped: Path) -> None:
    """Settings without sense are named as what the last start failed for; nothing is restarted."""
    (stopped / "config.toml").write_text("nonsense = true\n")
    (stopped / "config.toml").chmod(0o600)
    assert recalld("start").returncode == 78
    code, checks = examined(recalld)
    assert code == 78
    assert failures(checks) == {"daemon"}
    assert "nonsense" in checks["daemon"]["seen"]
    assert checks["daemon"]["fix"].endswith("run: recalld start")


@pytest.mark.parametrize(
    ("mode", "state"),
    [
        (0o600, "ok"),
        pytest.param(0o664, "warning", marks=shared_group),
        (0o644, "warning"),
        (0o640, "warning"),
    ],
)
def test_settings_that_are_open_to_others(
    recalld: Cli, stopped: Path, mode: int, state: str
) -> None:
    """They are obeyed, and doctor warns of them with the chmod that helps."""
    config = stopped / "config.toml"
    config.write_text('embedder = "none"\n')
    config.chmod(mode)
    assert recalld.json("start")["pid"]
    assert recalld.json("status")["embedding"]["state"] in {"loading", "off"}
    code, checks = examined(recalld)
    assert (code, checks["config.toml"]["state"]) == (0, state)
    if state == "warning":
        assert f"is open to others (mode {mode:o})" in checks["config.toml"]["seen"]
        assert recalld.shell(checks["config.toml"]["fix"].removeprefix("Run: ")).returncode == 0
        assert examined(recalld)[1]["config.toml"]["state"] == "ok"


@pytest.mark.parametrize("mode", [0o602, 0o646, 0o666])
def test_settings_that_anybody_may_write(recalld: Cli, stopped: Path, mode: int) -> None:
    """They are not obeyed: no daemon starts, and both say the chmod that helps."""
    config = stopped / "config.toml"
    config.write_text('embedder = "none"\n')
    config.chmod(mode)
    refused = recalld("start")
    assert refused.returncode == 78
    assert f"can be changed by anybody (mode {mode:o})" in refused.stderr
    assert f"Run: chmod 600 {config}" in refused.stderr
    code, checks = examined(recalld)
    assert (code, checks["config.toml"]["state"]) == (78, "failure")
    assert recalld.shell(checks["config.toml"]["fix"].removeprefix("Run: ")).returncode == 0
    recalld.ok("start")
    assert examined(recalld)[0] == 0


def test_settings_linked_from_elsewhere(recalld: Cli, stopped: Path, tmp_path: Path) -> None:
    """Many keep theirs with other dotfiles: what the link leads to is judged."""
    kept = tmp_path / "dotfiles.toml"
    kept.write_text('embedder = "none"\n')
    (stopped / "config.toml").symlink_to(kept)
    for mode, code in ((0o622, 78), (0o600, 0)):
        kept.chmod(mode)
        assert recalld("start").returncode == code
        assert examined(recalld)[0] == code


@pytest.mark.parametrize("running", [False, True])
def test_a_run_folder_that_is_open(
    recalld: Cli, stopped: Path, any_daemon: Daemon, running: bool
) -> None:
    """The folder is named with its chmod, and what can still be looked at is."""
    if running:
        recalld.ok("start")
    (stopped / "run").chmod(0o755)
    code, checks = examined(recalld)
    assert code == 78
    assert checks["run"]["state"] == "failure"
    assert checks["run"]["fix"] == f"Run: chmod 700 {stopped / 'run'}"
    assert checks["grants"]["state"] == "ok"
    assert LAST in checks
    (stopped / "run").chmod(0o700)
    assert examined(recalld)[0] == 0
    assert any_daemon.published == running


def test_a_lock_that_is_held(recalld: Cli, daemon: Daemon) -> None:
    """A daemon that holds the lock and does not answer is what the restart is advised for."""
    processes.send(daemon.pid, signal.SIGSTOP)
    try:
        code, checks = examined(recalld)
    finally:
        processes.send(daemon.pid, signal.SIGCONT)
    assert code == 78
    assert "holds the lock" in checks["daemon"]["seen"]
    assert "recalld restart" in checks["daemon"]["fix"]


def test_a_killed_daemon_is_no_failure(recalld: Cli, daemon: Daemon) -> None:
    """The next call starts another one."""
    daemon.kill()
    eventually(lambda: daemon.pids() == [])
    code, checks = examined(recalld)
    assert code == 0
    assert checks["daemon"]["state"] == "note"


def test_a_file_in_place_of_the_data_folder(recalld: Cli, data: Path) -> None:
    """It is told to be a file by every verb, whatever its mode, and doctor goes on."""
    for mode in (0o644, 0o600):
        data.write_text("a file")
        data.chmod(mode)
        for verb in ("list", "start"):
            done = recalld(verb)
            assert f"{data} is a file, not a folder" in done.stderr
            assert done.returncode == 78
        code, checks = examined(recalld)
        assert code == 78
        assert failures(checks) == {"data folder"}
        assert "is a file, not a folder" in checks["data folder"]["seen"]
        assert LAST in checks


def test_a_data_folder_below_a_file(recalld: Cli, data: Path) -> None:
    """The file is named, not the folder that could not be made."""
    data.write_text("a file")
    recalld.env["RECALLD_HOME"] = str(data / "deeper" / "data")
    assert f"{data} is a file, not a folder" in recalld("list").stderr


def test_doctor_and_status_use_the_same_words(recalld: Cli, stopped: Path) -> None:
    """Who started the daemon, and how much it holds, with one of a thing in the singular."""
    assert "started by a client that needed it" in recalld.ok("start")
    checks = examined(recalld)[1]
    status = recalld.ok("status")
    for words in ("started by a client that needed it", "1 memory in 1 namespace\n"):
        assert words in status
    assert "started by a client that needed it" in checks["record"]["seen"]
    assert "1 memory in 1 namespace." in checks["store"]["seen"]
    assert stopped.is_dir()
