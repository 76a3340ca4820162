"""The service unit: what is written, what is refused, and who starts the daemon with it."""

from __future__ import annotations

import json
import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from recalld import __version__ as recalld_version
from recalld.auth.errors import InvalidRequest
from recalld.auth.paths import Layout
from recalld.auth.record import API
from recalld.client.service import installation
from recalld.client.service import unit as service

from tests.harness.cli import Cli, program
from tests.harness.daemons import Daemon
from tests.harness.installations import Installation
from tests.harness.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no service manager")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs systemd's units")
lasting = pytest.mark.skipif(
    installation.ephemeral(program()[0], os.environ),
    reason="this checkout lies in a temporary folder, from which no service is installed",
)

# A manager that notes what it is asked, and for `start` and `restart` runs what the unit says.
MANAGER = """#!/bin/sh
echo "$@" >> "$0.log"
case "$*" in
  *"show-environment"*) exit ${MANAGER_DOWN:-0} ;;
  *"NeedDaemonReload"*) echo "NeedDaemonReload=${RELOAD:-no}" ;;
  *" restart "*|*" start "*)
    [ -n "$MANAGER_DOWN" ] && exit 1
    unit="$HOME/.config/systemd/user/recalld.service"
    line=$(sed -n 's/^ExecStart="\\(.*\\)" serve.*/\\1/p' "$unit")
    setsid "$line" serve --managed-by systemd --takeover >/dev/null 2>&1 </dev/null &
    for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
      sleep 0.25
      grep -q '"systemd"' "$RECALLD_HOME/run/daemon.json" 2>/dev/null && exit 0
    done
    exit 1 ;;
esac
"""


@pytest.fixture
def manager(tmp_path: Path, recalld: Cli) -> Path:
    """Puts a stand-in `systemctl` first on PATH; returns the file it logs to."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "systemctl"
    script.write_text(MANAGER)
    script.chmod(0o755)
    recalld.env["PATH"] = f"{folder}:{recalld.env['PATH']}"
    return folder / "systemctl.log"


def unit_of(recalld: Cli) -> Path:
    """Where the unit of the test's user lies."""
    return Path(service.unit_path(recalld.env))


@linux
def test_the_unit_holds_what_the_daemon_needs(place: Layout) -> None:
    """Type, watchdog, exit codes that are not retried, umask, and an absolute launcher."""
    text = installation.render(place, "/home/u/.local/bin/recalld")
    wanted = [
        "Type=notify",
        'ExecStart="/home/u/.local/bin/recalld" serve --managed-by systemd --takeover',
        f'Environment="RECALLD_HOME={place.data}"',
        "RestartPreventExitStatus=75 78",
        "UMask=0077",
        "WantedBy=default.target",
    ]
    assert [line for line in wanted if line not in text.splitlines()] == []
    assert "WatchdogSec=" in text
    assert "StartLimitBurst=" in text
    assert "@" not in text


@linux
@pytest.mark.parametrize("folder", ["plain", "with space", "100%s", "do$llar", "ünïcode"])
def test_systemd_accepts_the_unit(place: Layout, tmp_path: Path, folder: str) -> None:
    """`systemd-analyze --user verify` has nothing to say, whatever the paths are called."""
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("systemd-analyze is not here")
    launcher = tmp_path / folder / "recalld"
    launcher.parent.mkdir()
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    unit = tmp_path / "recalld.service"
    data = str(tmp_path / f'{folder} "quoted" back\\slash')
    text = installation.render(place._replace(data=data), str(launcher))
    unit.write_text(text)
    done = subprocess.run(
        [tool, "--user", "verify", str(unit)],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)},
        check=False,
    )
    assert "recalld.service" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
    assert installation.started_by(text) == str(launcher)


@linux
@pytest.mark.parametrize("odd", ['quote"d', "quote'd", "back\\s", "line\nend"])
def test_what_systemd_cannot_start_is_refused(place: Layout, odd: str) -> None:
    """A launcher path that systemd rejects is refused before anything is written."""
    with pytest.raises(InvalidRequest):
        installation.render(place, f"/opt/{odd}/recalld")


def test_the_agent_is_a_property_list(place: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launchd agent parses, escapes its paths, and restarts only after failures."""
    monkeypatch.setattr(sys, "platform", "darwin")
    odd = place._replace(data="/Users/u/a & b <c>")
    agent = plistlib.loads(installation.render(odd, "/opt/recalld").encode())
    assert agent["ProgramArguments"] == [
        "/opt/recalld",
        "serve",
        "--managed-by",
        "launchd",
        "--takeover",
    ]
    assert agent["EnvironmentVariables"] == {"RECALLD_HOME": "/Users/u/a & b <c>"}
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert (agent["Label"], agent["Umask"]) == ("dev.recalld", 0o077)


@pytest.mark.parametrize(
    "path",
    [
        "/tmp/x/bin/recalld",
        "/home/u/.cache/uv/archive-v0/Ab3/bin/recalld",
        "/home/u/.cache/uv/builds-v0/.tmpX/bin/recalld",
        "/home/u/.local/pipx/.cache/1f/bin/recalld",
        "/dev/shm/venv/bin/recalld",
        "/caches/u/venv/bin/recalld",
    ],
)
def test_temporary_places_are_told(path: str) -> None:
    """Temporary folders and tool caches do not survive, so no unit may name them."""
    assert installation.ephemeral(path, {"XDG_CACHE_HOME": "/caches/u"})


@pytest.mark.parametrize(
    "path",
    [
        "/home/u/.local/bin/recalld",
        "/home/u/.local/share/uv/tools/recalld/bin/recalld",
        "/home/u/.local/share/pipx/venvs/recalld/bin/recalld",
        "/home/u/tmp/project/.venv/bin/recalld",
    ],
)
def test_lasting_places_are_told(path: str) -> None:
    """What pipx, uv tool and a person install stays."""
    assert not installation.ephemeral(path, {})


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/tmp/ci/home/.local/bin/recalld", False),
        ("/tmp/ci/home/.venv/bin/recalld", False),
        ("/tmp/ci/home/.cache/uv/archive-v0/Ab3/bin/recalld", True),
        ("/tmp/ci/home/uv/environments-v2/Ab3/bin/recalld", True),
        ("/tmp/ci/home/pip-build-env-3/bin/recalld", True),
        ("/tmp/ci/home/tmp/x/bin/recalld", True),
        ("/tmp/ci/home2/bin/recalld", True),
        ("/tmp/ci/venv/bin/recalld", True),
    ],
)
def test_a_temporary_home_is_a_home(path: str, told: bool) -> None:
    """Where the home folder itself is temporary, only what is less lasting than it is told."""
    environ = {"HOME": "/tmp/ci/home", "TMPDIR": "/tmp/ci/home/tmp"}
    assert installation.ephemeral(path, environ) == told


@linux
def test_installing_in_a_temporary_home(recalld: Cli, manager: Path, tmp_path: Path) -> None:
    """From the home folder of a container both verbs work; from uv's cache in it they name how."""
    recalld.env |= {"MANAGER_DOWN": "1", "TMPDIR": str(tmp_path.parent)}
    home = Path(recalld.env["HOME"])
    lasting = command_in(home / ".local" / "share")
    assert recalld.shell(f"{lasting} connect claude-code").returncode == 0
    done = recalld.shell(f"{lasting} service install --json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["launcher"] == str(lasting)
    passing = command_in(home / ".cache" / "uv" / "archive-v0")
    for verb in ("connect codex", "service install"):
        refused = recalld.shell(f"{passing} {verb}")
        assert refused.returncode == 64
        assert "uv tool install" in refused.stderr
        assert "--force" in refused.stderr
        assert recalld.shell(f"{passing} {verb} --force").returncode == 0
    assert manager.exists()


def command_in(folder: Path) -> Path:
    """The command of an installation in this folder."""
    python = Installation(folder, recalld_version, API).python
    script = python.parent / "recalld"
    script.write_text(
        f"#!{python} -P\nfrom recalld.__main__ import main\nraise SystemExit(main())\n"
    )
    script.chmod(0o755)
    return script


def test_install_refuses_a_temporary_launcher(tmp_path: Path) -> None:
    """The refusal says how to install for good."""
    script = tmp_path / "recalld"
    script.write_text("")
    script.chmod(0o755)
    with pytest.raises(InvalidRequest) as caught:
        installation.launcher(str(script), {"TMPDIR": str(tmp_path.parent)})
    assert "uv tool install" in (caught.value.hint or "")


def test_the_launcher_is_not_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stable link in front of a versioned folder is what the unit names."""

    def lasting(path: str, environ: dict[str, str]) -> bool:
        assert path
        return environ == {"never": "this"}

    monkeypatch.setattr(installation, "ephemeral", lasting)
    real = tmp_path / "tools" / "recalld-1.0" / "recalld"
    real.parent.mkdir(parents=True)
    real.write_text("")
    real.chmod(0o755)
    stable = tmp_path / "bin" / "recalld"
    stable.parent.mkdir()
    stable.symlink_to(real)
    assert installation.launcher(str(stable), {}) == str(stable)
    assert installation.launcher("recalld", {"PATH": str(stable.parent)}) == str(stable)


@lasting
@linux
def test_install_takes_over_from_a_spawned_daemon(
    recalld: Cli, daemon: Daemon, manager: Path
) -> None:
    """The client's daemon is drained, the manager's takes its place, and clients use that one."""
    recalld.ok("store", "kept over the takeover")
    spawned = daemon.pid
    told = recalld.json("service", "install")
    assert told["started"] is True
    assert told["launcher"] == program()[0]
    assert daemon.pid != spawned
    assert recalld.json("status")["managed_by"] == "systemd"
    assert "kept over" in recalld.ok("recall", "kept over the takeover")
    asked = manager.read_text()
    assert [word for word in ("daemon-reload", "enable", "restart") if word not in asked] == []


@lasting
@linux
def test_clients_start_through_the_manager(recalld: Cli, any_daemon: Daemon, manager: Path) -> None:
    """With a unit for this data folder, a verb asks the manager instead of spawning."""
    recalld.json("service", "install")
    recalld.ok("stop")
    manager.unlink()
    recalld.ok("recall", "anything")
    assert " start recalld.service" in manager.read_text()
    assert recalld.json("status")["managed_by"] == "systemd"
    assert len(any_daemon.pids()) == 1


@lasting
@linux
def test_a_manager_that_fails_does_not_fail_the_verb(
    recalld: Cli, any_daemon: Daemon, manager: Path
) -> None:
    """Where the manager cannot start it (no bus, broken unit), the client spawns as usual."""
    recalld.env["MANAGER_DOWN"] = "1"
    told = recalld.json("service", "install")
    assert told["started"] is False
    wants = unit_of(recalld).parent / "default.target.wants" / "recalld.service"
    assert wants.resolve() == unit_of(recalld).resolve()
    recalld.ok("recall", "anything")
    assert " start recalld.service" in manager.read_text()
    assert any_daemon.record["managed_by"] == "spawn"


@lasting
@linux
def test_a_unit_for_another_folder_is_left_alone(
    recalld: Cli, any_daemon: Daemon, manager: Path, tmp_path: Path
) -> None:
    """A second data folder is served by a spawned daemon, not by the unit of the first."""
    recalld.env["MANAGER_DOWN"] = "1"
    recalld.json("service", "install")
    text = (
        unit_of(recalld).read_text().replace(recalld.env["RECALLD_HOME"], str(tmp_path / "other"))
    )
    unit_of(recalld).write_text(text)
    recalld.ok("recall", "anything")
    assert " start " not in manager.read_text()
    assert any_daemon.published


@lasting
@linux
def test_drift_is_told(recalld: Cli, daemon: Daemon, manager: Path) -> None:
    """A changed unit, a manager that has not re-read it, and a vanished launcher are all named."""
    assert daemon.published
    recalld.env["MANAGER_DOWN"] = "1"
    recalld.json("service", "install")

    def seen() -> str:
        checks = json.loads(recalld("doctor", "--json").stdout)["checks"]
        (found,) = [check for check in checks if check["name"] == "service"]
        return f"{found['state']}: {found['seen']} {found['fix']}"

    assert seen().startswith("ok")
    recalld.env["RELOAD"] = "yes"
    assert "daemon-reload" in seen()
    recalld.env["RELOAD"] = "no"
    good = unit_of(recalld).read_text()
    unit_of(recalld).write_text(good + 'Environment="RECALLD_WORKERS=1"\n')
    assert "recalld service install" in seen()
    unit_of(recalld).write_text(good.replace(program()[0], "/gone/recalld"))
    assert "/gone/recalld is gone" in seen()
    assert manager.exists()


@lasting
@linux
def test_uninstall_leaves_nothing(recalld: Cli, any_daemon: Daemon, manager: Path) -> None:
    """The unit and its link go, the manager is told, and clients spawn again."""
    recalld.env["MANAGER_DOWN"] = "1"
    recalld.json("service", "install")
    assert recalld.json("service", "uninstall")["removed"] is True
    assert list(unit_of(recalld).parent.rglob("recalld.service")) == []
    assert recalld.json("service", "uninstall")["removed"] is False
    assert "disable --now" in manager.read_text()
    recalld.ok("start")
    eventually(lambda: any_daemon.published)
