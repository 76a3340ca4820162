"""Other people's files: links, modes, broken ones, other writers, and what was there before."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import threading
from pathlib import Path

import pytest
from recalld.auth.errors import (
    Conflict,
    InvalidRequest,
    InvalidSettings,
    RecalldError,
    StorageTrouble,
)
from recalld.client.connectors import settings_file
from recalld.client.connectors.settings_file import Content

from tests.connect.wired import Wired, tree, write
from tests.harness.cli import Cli

HOOKS = b'{\n  // mine\n  "model": "opus"\n}\n'


@pytest.fixture
def path(wired: Wired) -> Path:
    """Claude Code's settings, with something in them."""
    found = wired.paths("claude-code")[0]
    write(found, HOOKS)
    return found


@pytest.mark.parametrize(
    "broken",
    [
        b"{",
        b"[]",
        b'{"hooks": 1}',
        b'{"a": 1, "a" 2}',
        b"\xff\xfe{\x00}\x00",
        b'{"a": "\xff"}',
        b"not json",
        b'{"mcpServers": {}} trailing',
    ],
)
@pytest.mark.parametrize("at", [0, 1])
def test_broken_files_are_refused_and_nothing_is_written(
    wired: Wired, broken: bytes, at: int
) -> None:
    """Also when only the second of two files is broken, neither is touched."""
    path = wired.paths("cursor")[at]
    write(path, broken if at == 0 or broken != b'{"hooks": 1}' else b'{"mcpServers": 1}')
    before = tree(wired.home)
    with pytest.raises(InvalidSettings, match=path.name):
        wired.connect("cursor")
    assert tree(wired.home) == before


def test_broken_toml_is_refused(wired: Wired) -> None:
    """The error names the file and the line, and neither file of the host is touched."""
    path = wired.paths("codex")[1]
    write(path, b"model = \n")
    with pytest.raises(InvalidSettings, match="line 1"):
        wired.connect("codex")
    assert tree(wired.home) == {".codex": None, ".codex/config.toml": b"model = \n"}


def test_empty_files_count_as_empty_settings(wired: Wired, path: Path) -> None:
    """A file without content is filled, and is empty again afterwards."""
    path.write_bytes(b"\n")
    wired.connect("claude-code")
    assert "hooks" in json.loads(path.read_text())
    wired.disconnect("claude-code")
    assert path.read_bytes() == b"\n"


def test_links_are_written_through(wired: Wired, path: Path, tmp_path: Path) -> None:
    """Dotfiles kept elsewhere stay linked; their real file is the one that changes."""
    real = tmp_path / "dotfiles" / "claude.json"
    write(real, HOOKS)
    path.unlink()
    path.symlink_to(real)
    wired.connect("claude-code")
    assert path.is_symlink()
    assert b"recalld hook" in real.read_bytes()
    wired.disconnect("claude-code")
    assert path.is_symlink()
    assert real.read_bytes() == HOOKS


def test_dangling_links_are_refused(wired: Wired, path: Path, tmp_path: Path) -> None:
    """A link to nowhere is somebody's mistake; nothing is created at its end."""
    path.unlink()
    path.symlink_to(tmp_path / "gone.json")
    with pytest.raises(InvalidRequest, match="does not exist"):
        wired.connect("claude-code")
    assert not (tmp_path / "gone.json").exists()


@pytest.mark.parametrize("inside", ["../outside.json", ".git/config.json", "node_modules/x.json"])
def test_a_checkouts_links_lead_nowhere_else(wired: Wired, inside: str) -> None:
    """A repository cannot have us write outside it, into .git, or into other people's code."""
    victim = (wired.root / inside).resolve()
    write(victim, b"{}")
    link = wired.paths("gemini", "project")[0]
    link.parent.mkdir()
    link.symlink_to(victim)
    with pytest.raises(InvalidRequest):
        wired.connect("gemini", "project")
    assert victim.read_bytes() == b"{}"


def test_read_only_files_are_refused(wired: Wired, path: Path) -> None:
    """Whoever made it read-only meant it; renaming over it would get around that."""
    path.chmod(0o444)
    with pytest.raises(StorageTrouble, match="read-only") as caught:
        wired.connect("claude-code")
    assert "chmod u+w" in (caught.value.hint or "")
    assert path.read_bytes() == HOOKS


def test_folders_and_pipes_are_refused(wired: Wired, path: Path) -> None:
    """What is no regular file is neither waited for nor replaced."""
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(RecalldError):
        wired.connect("claude-code")
    path.unlink()
    path.mkdir()
    with pytest.raises(RecalldError):
        wired.connect("claude-code")


def test_modes_stay_and_copies_are_private(wired: Wired, path: Path) -> None:
    """The file keeps its mode; what we keep of it is ours alone, for settings hold secrets."""
    path.chmod(0o640)
    done = wired.connect("claude-code")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert Path(done[0].backup).read_bytes() == HOOKS
    kept = Path(wired.layout.data) / "connections"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in kept.iterdir()} == {0o600}
    created = wired.paths("claude-code")[1]
    assert stat.S_IMODE(created.stat().st_mode) == 0o600


def test_a_second_run_touches_nothing(wired: Wired, path: Path) -> None:
    """Not even the time of the file's last change."""
    wired.connect("claude-code")
    before = path.stat()
    assert {one.deed for one in wired.connect("claude-code")} == {"unchanged"}
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert path.stat().st_ino == before.st_ino


def test_changes_of_others_are_kept(wired: Wired, path: Path) -> None:
    """When somebody wrote to the file since, only our entries go, and their comments stay."""
    wired.connect("claude-code")
    path.write_bytes(path.read_bytes().replace(b'"opus"', b'"sonnet", // changed\n  "x": [1]'))
    assert [one.deed for one in wired.disconnect("claude-code")][:2] == ["cleaned", "removed"]
    assert path.read_bytes() == HOOKS.replace(b'"opus"', b'"sonnet", // changed\n  "x": [1]')


def test_a_file_of_ours_that_others_use_by_now_stays(wired: Wired) -> None:
    """What the host wrote into a file we created is not deleted with it, and a new run keeps it."""
    path = wired.paths("claude-code")[1]
    wired.connect("claude-code")
    read = json.loads(path.read_text())
    path.write_text(json.dumps({"numStartups": 7, **read}))
    wired.launch = wired.launch._replace(home="/elsewhere")
    wired.connect("claude-code")
    assert "/elsewhere" in path.read_text()
    wired.disconnect("claude-code")
    assert json.loads(path.read_text()) == {"numStartups": 7}


def test_a_new_launcher_keeps_the_way_back(wired: Wired, path: Path) -> None:
    """Connecting again with another command still restores what was there before the first time."""
    wired.connect("claude-code")
    wired.launch = wired.launch._replace(launcher="/opt/new/recalld")
    assert wired.connect("claude-code")[0].deed == "connected"
    assert path.read_bytes().count(b"/opt/new/recalld hook") == 11
    assert [one.deed for one in wired.disconnect("claude-code")][:2] == ["restored", "removed"]
    assert path.read_bytes() == HOOKS


def test_without_receipts_our_entries_still_go(wired: Wired, path: Path) -> None:
    """A lost data folder costs the exact bytes at most, never somebody's settings."""
    wired.connect("claude-code")
    for one in (Path(wired.layout.data) / "connections").iterdir():
        one.unlink()
    wired.disconnect("claude-code")
    assert path.read_bytes() == HOOKS


def test_a_damaged_receipt_is_none(wired: Wired, path: Path) -> None:
    """A receipt that cannot be read is passed over."""
    wired.connect("claude-code")
    for one in (Path(wired.layout.data) / "connections").iterdir():
        one.write_bytes(b"{")
    wired.disconnect("claude-code")
    assert path.read_bytes() == HOOKS


def test_scopes_are_apart(wired: Wired) -> None:
    """Disconnecting one scope leaves the other connected."""
    wired.connect("gemini")
    wired.connect("gemini", "project")
    wired.disconnect("gemini", "project")
    assert tree(wired.root) == {}
    assert b"recalld hook gemini" in wired.paths("gemini")[0].read_bytes()


def test_disconnecting_everything_reaches_other_checkouts(wired: Wired, tmp_path: Path) -> None:
    """The receipts know where else we wrote; a plain disconnect cleans up there too."""
    here, there = wired.root, tmp_path / "other"
    there.mkdir()
    wired.root = there
    wired.connect("cursor", "project")
    wired.root = here
    wired.disconnect("cursor", "project")
    assert tree(there) != {}
    wired.disconnect("cursor")
    assert tree(there) == {}


def test_a_change_under_our_hands_is_not_lost(
    wired: Wired, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that saves its settings between our read and our write keeps what it saved."""
    original, times = settings_file.read, [0]

    def read(where: str, root: str = "") -> Content:
        content = original(where, root)
        if where == str(path) and not times[0]:
            times[0] += 1
            path.write_bytes(HOOKS.replace(b"opus", b"haiku"))
        return content

    monkeypatch.setattr(settings_file, "read", read)
    wired.connect("claude-code")
    assert b"haiku" in path.read_bytes()
    assert b"recalld hook" in path.read_bytes()
    wired.disconnect("claude-code")
    assert path.read_bytes() == HOOKS.replace(b"opus", b"haiku")


def test_a_writer_that_never_rests_is_an_error(
    wired: Wired, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some attempts we give up, and what it wrote stays."""
    original = settings_file.read

    def read(where: str, root: str = "") -> Content:
        content = original(where, root)
        if where == str(path):
            path.write_bytes((content.data or b"") + b"\n")
        return content

    monkeypatch.setattr(settings_file, "read", read)
    with pytest.raises(Conflict, match="another program"):
        wired.connect("claude-code")
    assert path.read_bytes().rstrip() == HOOKS.rstrip()


def test_many_at_once_leave_one_result(recalld: Cli, wired: Wired, path: Path) -> None:
    """Twenty processes connecting at the same time write the file as one does."""
    running = [recalld.start("connect", "claude-code", "--force") for _ in range(20)]
    ended = [(one.communicate(timeout=100)[1], one.returncode) for one in running]
    assert [code for _, code in ended] == [0] * 20, ended
    assert path.read_bytes().count(b" hook claude-code") == 11
    wired.disconnect("claude-code")
    assert path.read_bytes() == HOOKS


def test_readers_never_see_half_a_file(wired: Wired, path: Path) -> None:
    """Whoever reads while we write sees the old settings or the new ones."""
    seen: set[bytes] = set()
    after = HOOKS
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            seen.add(path.read_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for _ in range(5):
            wired.connect("claude-code")
            after = path.read_bytes()
            wired.disconnect("claude-code")
    finally:
        stop.set()
        watcher.join()
    assert seen <= {HOOKS, after}


def test_nothing_is_left_lying_about(wired: Wired, path: Path) -> None:
    """No temporary file stays beside the settings."""
    wired.connect("claude-code")
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]


def test_git_sees_no_change_after_a_round_trip(wired: Wired) -> None:
    """A checkout is as clean as before."""
    for host in ("claude-code", "codex", "cursor", "gemini", "kiro"):
        wired.connect(host, "project")
        wired.disconnect(host)
    done = subprocess.run(
        ["git", "status", "--porcelain"], cwd=wired.root, capture_output=True, text=True, check=True
    )
    assert done.stdout == ""


OWN_COMMANDS = [
    "~/bin/chime.sh; RECALLD_HOME=/mnt/x recalld hook claude-code | tee -a ~/hooks.log",
    "/opt/recalld hook claude-code && say done",
    "/opt/recalld hook claude-code --quiet",
    "/opt/recalld hook claude-code # mine",
    "sh -c '/opt/recalld hook claude-code'",
    "timeout 3 /opt/recalld hook claude-code",
    "TRACE=1 /opt/recalld hook claude-code",
    "chime\n/opt/recalld hook claude-code",
    "recalld hook claude-code",
    "RECALLD_HOME=/mnt/x ~/.local/bin/recalld hook claude-code",
    "$(which recalld) hook claude-code",
    "'/opt/recalld hook claude-code",
]


@pytest.mark.parametrize("command", OWN_COMMANDS)
@pytest.mark.parametrize("touched", [False, True])
def test_commands_of_the_person_stay(
    wired: Wired, path: Path, command: str, *, touched: bool
) -> None:
    """A hook somebody wrote around ours outlives connecting and disconnecting, byte for byte."""
    hook = {"hooks": [{"type": "command", "command": command}]}
    original = json.dumps({"hooks": {"Stop": [hook]}, "model": "opus"}, indent=2).encode()
    path.write_bytes(original)
    done = wired.connect("claude-code")
    assert json.dumps(command).encode() in path.read_bytes()
    assert Path(done[0].backup).read_bytes() == original
    if touched:
        path.write_bytes(path.read_bytes().replace(b"opus", b"haiku"))
    wired.disconnect("claude-code")
    assert path.read_bytes() == (original.replace(b"opus", b"haiku") if touched else original)


def test_the_first_backup_is_the_file_as_it_was(wired: Wired, path: Path) -> None:
    """Even what an earlier connecting left there; disconnecting gives it back without that."""
    wired.connect("claude-code")
    first = path.read_bytes()
    for one in (Path(wired.layout.data) / "connections").iterdir():
        one.unlink()
    wired.launch = wired.launch._replace(launcher="/opt/new/recalld")
    assert Path(wired.connect("claude-code")[0].backup).read_bytes() == first
    wired.disconnect("claude-code")
    assert path.read_bytes() == HOOKS


def test_a_server_of_the_person_stays(wired: Wired) -> None:
    """Our bridge as somebody set it up by hand is used as it is, and not taken away."""
    path = wired.paths("claude-code")[1]
    original = b'{"mcpServers": {"recalld": {"command": "recalld", "args": ["mcp", "-v"]}}}\n'
    write(path, original)
    wired.connect("claude-code")
    assert path.read_bytes() == original
    wired.disconnect("claude-code")
    assert path.read_bytes() == original
