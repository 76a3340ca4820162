"""Proxies, netrc files, interpreter variables, time zones and locales change nothing."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import processes
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.waiting import eventually


class Proxy:
    """A listener that remembers whether anybody ever connected."""

    def __init__(self) -> None:
        self.visitors: list[bytes] = []
        self._sock = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._sock.getsockname()[1])
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._sock.accept()
            except OSError:
                return
            with peer:
                peer.settimeout(1)
                try:
                    self.visitors.append(peer.recv(4096))
                except OSError:
                    self.visitors.append(b"")

    def close(self) -> None:
        """Stop listening."""
        self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()
        self._thread.join(timeout=5)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    """A recording proxy."""
    made = Proxy()
    yield made
    made.close()


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@pytest.mark.parametrize("exempt", ["", "localhost", "127.0.0.0/8", "*"])
def test_no_proxy_sees_a_local_call(
    recalld: Cli, daemon: Daemon, proxy: Proxy, scheme: str, exempt: str
) -> None:
    """Whatever the proxy variables say, the command and the SDK talk to the daemon directly."""
    url = f"{scheme}://127.0.0.1:{proxy.port}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    env = dict.fromkeys(names, url) | {name.lower(): url for name in names}
    env |= {"NO_PROXY": exempt, "no_proxy": exempt} if exempt else {}
    done = recalld("store", "told to nobody else", env=env)
    assert done.returncode == 0, done.stderr
    program = "from recalld.client import Memory\nwith Memory() as m:\n print(m.recall('told'))"
    done = recalld.python(program, env=env)
    assert done.returncode == 0, done.stderr
    assert "told to nobody else" in done.stdout
    assert proxy.visitors == []
    assert daemon.pids() == [daemon.pid]


def test_a_netrc_does_not_replace_the_token(recalld: Cli, daemon: Daemon, home: Path) -> None:
    """A ~/.netrc entry for 127.0.0.1 changes no header."""
    netrc = home / ".netrc"
    netrc.write_text("machine 127.0.0.1 login mallory password hunter2\n")
    netrc.chmod(0o600)
    recalld.ok("store", "kept from netrc")
    program = "from recalld.client import Memory\nwith Memory() as m:\n print(m.recall('netrc'))"
    done = recalld.python(program, env={"NETRC": str(netrc)})
    assert done.returncode == 0, done.stderr
    assert "kept from netrc" in done.stdout
    assert "hunter2" not in daemon.log()


@pytest.mark.parametrize("name", ["json", "socket", "hmac", "recalld", "auth", "pydantic", "apsw"])
def test_a_planted_module_is_not_loaded(
    recalld: Cli, any_daemon: Daemon, tmp_path: Path, name: str
) -> None:
    """A module in the checkout or on the caller's PYTHONPATH never gets into the daemon."""
    trap = tmp_path / "sprung"
    text = f"import os\nopen({str(trap)!r}, 'a').write(str(os.getpid()) + chr(10))\n"
    for folder in (recalld.cwd, tmp_path / "planted"):
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(text)
    recalld("recall", "anything", env={"PYTHONPATH": str(tmp_path / "planted")})
    (tmp_path / "planted" / f"{name}.py").unlink()
    recalld.ok("recall", "anything")
    sprung = trap.read_text().split() if trap.exists() else []
    assert str(any_daemon.pid) not in sprung


@pytest.mark.parametrize(
    "env",
    [
        {"TZ": "Pacific/Kiritimati"},
        {"TZ": "America/St_Johns"},
        {"TZ": "garbage/../../etc"},
        {"LANG": "C", "LC_ALL": "C"},
        {"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        {"LANG": "", "LC_ALL": "xx_YY.nonsense"},
        {"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1"},
        {"PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"},
        {"COLUMNS": "1", "LINES": "1", "TERM": "dumb", "NO_COLOR": "1"},
    ],
    ids=json.dumps,
)
def test_time_zone_and_locale_change_nothing(
    recalld: Cli, any_daemon: Daemon, env: dict[str, str]
) -> None:
    """A daemon started in an odd environment stores exact text and UTC times."""
    text = "Zürich ıI 東京 🚀"
    stored = recalld("store", text, "--json", env=env)
    assert stored.returncode == 0, stored.stderr
    ident = json.loads(stored.stdout)["id"]
    shown = recalld.json("show", ident)
    assert shown["content"] == text
    assert shown["created_at"].endswith("Z")
    again = recalld("show", ident, "--json", env=env)
    assert json.loads(again.stdout) == shown
    assert any_daemon.pids() == [any_daemon.pid]


@pytest.mark.parametrize("drop", ["HOME", "LANG", "PATH"])
def test_a_missing_variable_is_no_trouble(recalld: Cli, daemon: Daemon, drop: str) -> None:
    """Without HOME, LANG or PATH the same daemon is found."""
    bare = Cli({name: value for name, value in recalld.env.items() if name != drop}, recalld.cwd)
    assert bare.json("status")["pid"] == daemon.pid


def test_clients_differ_and_the_daemon_does_not(
    recalld: Cli, daemon: Daemon, tmp_path: Path
) -> None:
    """A client's folder and variables travel in its request, not in the daemon's environment."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    recalld.ok("store", "from elsewhere", cwd=elsewhere)
    before = processes.environ(daemon.pid)
    assert "from elsewhere" not in recalld.ok("recall", "from elsewhere")
    assert "from elsewhere" in recalld.ok("recall", "from elsewhere", cwd=elsewhere)
    assert processes.environ(daemon.pid) == before


def test_a_deleted_folder_is_said(recalld: Cli, daemon: Daemon, tmp_path: Path) -> None:
    """A command in a folder that is gone ends in one sentence."""
    gone = tmp_path / "gone"
    gone.mkdir()
    done = recalld.shell(f'cd "{gone}" && rmdir "{gone}" && recalld recall anything')
    assert "Traceback" not in done.stderr
    assert done.returncode != 0
    assert len(done.stderr.strip().splitlines()) == 1
    assert daemon.published


def test_closed_standard_streams_are_no_trouble(recalld: Cli, any_daemon: Daemon) -> None:
    """A caller without stdin, stdout or stderr can still start a daemon that lives."""
    recalld.shell("recalld store 'no streams' <&- >&- 2>&-")
    eventually(lambda: any_daemon.published, within=20)
    assert "no streams" in recalld.ok("recall", "no streams")
