"""Every host: the right files, every event, commands that run, and a round trip byte for byte."""

from __future__ import annotations

import json
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as effort
from hypothesis import strategies as st
from recalld.auth.errors import InvalidRequest
from recalld.auth.paths import layout
from recalld.client.connectors import hosts
from recalld.client.connectors.launch import Launch, hook_host, launch, program
from recalld.client.connectors.settings_json import command_of
from recalld.client.service import installation

from tests.connect.documents import json_texts, toml_texts
from tests.connect.wired import Wired, tree, write
from tests.harness.checkouts import Checkouts
from tests.harness.cli import Cli
from tests.harness.cli import program as installed

USER = {
    "claude-code": [".claude/settings.json", ".claude.json"],
    "codex": [".codex/hooks.json", ".codex/config.toml"],
    "cursor": [".cursor/hooks.json", ".cursor/mcp.json"],
    "gemini": [".gemini/settings.json"],
    "kiro": [".kiro/agents/recalld.json", ".kiro/settings/mcp.json"],
}
PROJECT = {**USER, "claude-code": [".claude/settings.local.json", ".mcp.json"]}

GROUP = {"hooks": [{"type": str, "command": str, "timeout": int}]}
ELEMENTS: dict[str, object] = {
    "claude-code": GROUP,
    "codex": GROUP,
    "gemini": {"hooks": [{"type": str, "command": str, "name": str, "timeout": int}]},
    "cursor": {"command": str, "timeout": int},
    "kiro": {"command": str, "timeout_ms": int},
}


def shape(value: object) -> object:
    """The value with every scalar replaced by its type."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [shape(each) for each in cast("list[object]", value)]
    return type(value)


def hooks_of(wired: Wired, host: str) -> dict[str, list[object]]:
    """The hooks in the host's first file."""
    read: dict[str, Any] = json.loads(wired.paths(host)[0].read_text())
    return cast("dict[str, list[object]]", read["hooks"])


@pytest.mark.parametrize("host", hosts.NAMES)
def test_entries_go_where_the_host_looks(wired: Wired, host: str) -> None:
    """User settings lie in the home folder, a checkout's in the checkout."""
    assert [str(p.relative_to(wired.home)) for p in wired.paths(host)] == USER[host]
    here = wired.paths(host, "project")
    assert [str(p.relative_to(wired.root)) for p in here] == PROJECT[host]


@pytest.mark.parametrize(
    ("host", "variable", "moved"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", ["settings.json", ".claude.json"]),
        ("codex", "CODEX_HOME", ["hooks.json", "config.toml"]),
    ],
)
def test_moved_settings_are_followed(
    wired: Wired, host: str, variable: str, moved: list[str]
) -> None:
    """A host's own variable for its folder counts, for the user's settings only."""
    folder = wired.home / "elsewhere"
    wired.environ = {**wired.environ, variable: str(folder)}
    assert wired.paths(host) == [folder / name for name in moved]
    assert wired.root in wired.paths(host, "project")[0].parents


@pytest.mark.parametrize("host", hosts.NAMES)
def test_every_event_gets_one_hook_of_the_hosts_shape(wired: Wired, host: str) -> None:
    """All kinds of events that the hook command understands are asked for, and nothing unknown."""
    wired.connect(host)
    hooks = hooks_of(wired, host)
    module: Any = import_module(f"recalld.client.hooks.hosts.{host.replace('-', '_')}")
    kinds: Mapping[str, str] = module.KINDS
    assert set(hooks) <= set(kinds)
    assert {kinds[event] for event in hooks} == set(kinds.values())
    assert [shape(element) for found in hooks.values() for element in found] == [
        ELEMENTS[host] for _ in hooks
    ]
    assert {hook_host(command_of(found[0])) for found in hooks.values()} == {host}


@pytest.mark.parametrize("host", hosts.NAMES)
def test_the_server_is_the_bridge(wired: Wired, host: str) -> None:
    """The MCP entry starts `recalld mcp` by its absolute path."""
    wired.connect(host)
    text = wired.paths(host)[-1].read_text()
    read: dict[str, Any] = tomllib.loads(text) if host == "codex" else json.loads(text)
    server = read["mcp_servers" if host == "codex" else "mcpServers"]["recalld"]
    wanted = {"command": wired.launch.launcher, "args": ["mcp"]}
    assert server == ({"type": "stdio", **wanted} if host == "claude-code" else wanted)


@pytest.mark.parametrize("host", hosts.NAMES)
def test_hooks_of_the_person_stay(wired: Wired, host: str) -> None:
    """Their hooks for the same events, and whatever else is in the file, are there as before."""
    wired.connect(host)
    event = next(iter(hooks_of(wired, host)))
    wired.disconnect(host)
    element = {"command": "my-own-hook"}
    mine = element if host in {"cursor", "kiro"} else {"hooks": [{"type": "command", **element}]}
    theirs = {"name": "mine", "unknown": {"key": [1, 2]}, "hooks": {event: [mine]}}
    write(wired.paths(host)[0], json.dumps(theirs).encode())
    wired.connect(host)
    assert mine in hooks_of(wired, host)[event]
    assert len(hooks_of(wired, host)[event]) == 2
    assert json.loads(wired.paths(host)[0].read_text())["unknown"] == {"key": [1, 2]}


@pytest.mark.parametrize("host", hosts.NAMES)
def test_a_home_without_the_host_comes_back_empty(wired: Wired, host: str) -> None:
    """Files and folders that only connecting made are gone after disconnecting."""
    wired.connect(host)
    wired.connect(host, "project")
    wired.disconnect(host)
    assert (tree(wired.home), tree(wired.root)) == ({}, {})
    assert list((Path(wired.layout.data) / "connections").iterdir()) == []


@pytest.mark.parametrize("host", hosts.NAMES)
@pytest.mark.parametrize("scope", ["user", "project"])
@effort(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.tuples(json_texts(), json_texts(), toml_texts()), mark=st.booleans())
def test_any_settings_come_back_byte_for_byte(
    wired: Wired, host: str, scope: str, texts: tuple[str, str, str], mark: bool
) -> None:
    """Connecting, again, and disconnecting leaves arbitrary settings exactly as they were."""
    with tempfile.TemporaryDirectory() as folder:
        wired.environ = {**wired.environ, "HOME": folder}
        wired.root = wired.home = Path(folder)
        for at, path in enumerate(wired.paths(host, scope)):
            text = texts[2] if path.suffix == ".toml" else texts[at]
            write(path, (b"\xef\xbb\xbf" if mark else b"") + text.encode())
        before = tree(wired.home)
        wired.connect(host, scope)
        after = tree(wired.home)
        assert all(after[name] != data for name, data in before.items() if data is not None)
        assert all(one.deed == "unchanged" for one in wired.connect(host, scope))
        assert tree(wired.home) == after
        wired.disconnect(host)
        assert tree(wired.home) == before


def test_the_data_folder_is_named_only_where_the_environment_names_one(
    clean_env: dict[str, str],
) -> None:
    """An agent started from the desktop does not know what a shell exported."""
    command = installed()[0]
    found = launch(command, clean_env, temporary=True)
    assert found == Launch(command, clean_env["RECALLD_HOME"])
    assert found.server()["env"] == {"RECALLD_HOME": clean_env["RECALLD_HOME"]}
    del clean_env["RECALLD_HOME"]
    assert launch(command, clean_env, temporary=True).hook("codex") == f"{command} hook codex"
    assert "env" not in launch(command, clean_env, temporary=True).server()


@pytest.mark.parametrize("odd", ["with space", "quo'te", 'dou"ble', "do$llar", "ünï", "back\\s"])
def test_hook_commands_survive_the_shell(tmp_path: Path, odd: str) -> None:
    """Whatever the folders are called, the shell starts the launcher with the right arguments."""
    script = tmp_path / odd / "recalld"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\nprintf "%s|" "$RECALLD_HOME" "$@"\n')
    script.chmod(0o755)
    command = Launch(str(script), str(tmp_path / f"{odd} data")).hook("kiro")
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path / f'{odd} data'}|hook|kiro|"
    assert hook_host(command) == "kiro"
    assert program(command) == str(script)


@pytest.mark.parametrize(
    "command",
    [
        "echo recalld",
        "/x/recalld-y hook codex",
        "recalld store hook",
        "recalld hooks codex",
        None,
        3,
    ],
)
def test_other_commands_are_not_ours(command: object) -> None:
    """Only a command that runs `recalld hook` is taken away."""
    assert hook_host(command) == ""


def test_a_temporary_command_is_refused_unless_forced(
    tmp_path: Path, clean_env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings outlive a tool cache, so they must not name one; --force is for trials."""
    script = tmp_path / "recalld"
    script.write_text("")
    script.chmod(0o755)
    environ = {**clean_env, "TMPDIR": str(tmp_path.parent)}
    with pytest.raises(InvalidRequest, match="temporary"):
        launch(str(script), environ)
    assert launch(str(script), environ, temporary=True).launcher == str(script)

    def lasting(_path: str, _environ: Mapping[str, str]) -> bool:
        return False

    monkeypatch.setattr(installation, "ephemeral", lasting)
    stable = tmp_path / "bin" / "recalld"
    stable.parent.mkdir()
    stable.symlink_to(script)
    assert launch(str(stable), environ).launcher == str(stable)


def test_a_kiro_agent_of_the_persons_own_gets_hooks_only(wired: Wired) -> None:
    """An existing agent keeps its tools and prompt; only a new one is made to be like the usual."""
    path = wired.paths("kiro")[0]
    write(path, b'{"name": "mine", "tools": ["fs_read"]}')
    wired.connect("kiro")
    read = json.loads(path.read_text())
    assert sorted(read) == ["hooks", "name", "tools"]
    assert read["tools"] == ["fs_read"]


def test_a_cursor_file_gets_its_version(wired: Wired) -> None:
    """Cursor ignores hooks in a file without a version."""
    path = wired.paths("cursor")[0]
    write(path, b'{"hooks": {}}')
    wired.connect("cursor")
    assert json.loads(path.read_text())["version"] == 1


@pytest.mark.parametrize("host", hosts.NAMES)
def test_the_command_does_it_all(recalld: Cli, host: str) -> None:
    """connect, a real hook from the written command, connect again, disconnect, as processes."""
    told = recalld.json("connect", host, "--force")
    assert told["changed"] is True
    assert told["undo"] == f"recalld disconnect {host}"
    settings: dict[str, Any] = json.loads(Path(str(told["files"][0]["path"])).read_text())
    command = command_of(next(iter(settings["hooks"].values()))[0])
    env = {"PATH": "/usr/bin:/bin", "HOME": recalld.env["HOME"], "RECALLD_HOOKS": "off"}
    done = subprocess.run(
        ["/bin/sh", "-c", command], env=env, input="{}", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() in ("", "{}")
    assert recalld.json("connect", host, "--force")["changed"] is False
    assert recalld.json("disconnect", host)["changed"] is True
    assert "nothing of ours" in recalld.ok("disconnect", host)


def test_a_dry_run_shows_the_change_and_makes_none(recalld: Cli, checkout: Checkouts) -> None:
    """The diff is printed; neither settings nor the data folder come into being."""
    shown = recalld.ok("connect", "gemini", "--force", "--dry-run")
    assert "+++" in shown
    assert '"BeforeAgent"' in shown
    assert tree(Path(recalld.env["HOME"])) == {}
    assert not Path(layout(recalld.env).data).exists()
    told = recalld.json("connect", "gemini", "--force", "--scope", "project")
    assert told["undo"] == "recalld disconnect gemini --scope project"
    assert '-  "hooks"' in recalld.ok("disconnect", "gemini", "--dry-run")
    assert (checkout() / ".gemini" / "settings.json").exists()


def test_unknown_hosts_are_named_with_the_known(recalld: Cli) -> None:
    """The error says which hosts there are."""
    done = recalld("connect", "emacs")
    assert done.returncode == 64
    assert "claude-code" in done.stderr
