"""Where files lie, and that what must be private is."""

from __future__ import annotations

import os
import pwd
import shlex
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from recalld.auth import paths
from recalld.auth.errors import DiskFull, InvalidSettings, StorageTrouble, UnsafePermissions
from recalld.auth.paths import layout

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def mode(path: Path) -> int:
    """The permission bits of a file."""
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def open_umask() -> Iterator[None]:
    """A umask that takes nothing away."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_the_data_folder_can_be_named() -> None:
    """RECALLD_HOME wins, and everything lies below it."""
    found = layout({"RECALLD_HOME": "/srv/r/", "XDG_DATA_HOME": "/x", "HOME": "/h"})
    assert found.data == "/srv/r"
    assert all(path.startswith("/srv/r") for path in found)
    assert found.record == "/srv/r/run/daemon.json"
    assert len(set(found)) == len(found)


def test_a_tilde_is_the_home_folder(home: Path) -> None:
    """RECALLD_HOME=~/r works where no shell expands it, as in unit files."""
    assert layout({"RECALLD_HOME": "~/r", "HOME": str(home)}).data == str(home / "r")


@pytest.mark.parametrize("value", ["data", "./data", "~other/data", "/a\0b"])
def test_a_relative_data_folder_is_refused(value: str) -> None:
    """Client and daemon have different working folders, so it would be two data folders."""
    with pytest.raises(InvalidSettings, match="RECALLD_HOME"):
        layout({"RECALLD_HOME": value, "HOME": "/h"})


def test_the_platform_default_is_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """XDG where it is set and absolute, else the platform's own place below home."""
    env = {"HOME": str(home)}
    assert layout({**env, "XDG_DATA_HOME": "/x"}).data == "/x/recalld"
    monkeypatch.setattr(sys, "platform", "linux")
    assert layout({**env, "XDG_DATA_HOME": "x"}).data == f"{home}/.local/share/recalld"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert layout(env).data == f"{home}/Library/Application Support/recalld"


def test_the_account_says_where_home_is_when_the_environment_does_not() -> None:
    """Cron and su may leave HOME out."""
    account = pwd.getpwuid(os.geteuid()).pw_dir
    assert layout({}).data.startswith(account)
    assert layout({"HOME": "relative"}).data.startswith(account)


@needs_root
def test_the_home_folder_of_someone_else_is_not_ours(tmp_path: Path) -> None:
    """Sudo may keep the caller's HOME; files made there would be in the caller's way."""
    os.chown(tmp_path, 4711, -1)
    assert layout({"HOME": str(tmp_path)}).data.startswith(pwd.getpwuid(0).pw_dir)


def test_a_private_folder_is_made_private(tmp_path: Path, open_umask: None) -> None:
    """Whatever the umask, the folder is 0700; a second call changes nothing."""
    folder = tmp_path / "a" / "b"
    paths.ensure_private_dir(str(folder))
    paths.ensure_private_dir(str(folder))
    assert mode(folder) == 0o700


def test_an_open_folder_is_refused_with_the_remedy(tmp_path: Path) -> None:
    """The error names the folder, its mode and the command."""
    folder = tmp_path / "my data"
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(UnsafePermissions, match=r"mode 755") as refused:
        paths.ensure_private_dir(str(folder))
    assert refused.value.hint == f"Run: chmod 700 '{folder}'"
    assert mode(folder) == 0o755


def test_a_link_or_file_in_a_folders_place_is_refused(tmp_path: Path) -> None:
    """Links, also dangling ones, files, and files further up are errors of ours."""
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "dangling").symlink_to(tmp_path / "absent")
    (tmp_path / "file").touch(mode=0o600)
    for name in ("link", "dangling", "file", "file/below"):
        with pytest.raises(StorageTrouble):
            paths.ensure_private_dir(str(tmp_path / name))


@needs_root
def test_someone_elses_file_is_refused(tmp_path: Path) -> None:
    """A file of another user's is not trusted, and the error says how to take it over."""
    file = tmp_path / "f"
    file.touch(mode=0o600)
    os.chown(file, 4711, -1)
    for look in (paths.check_private, paths.read_private):
        with pytest.raises(UnsafePermissions, match="belongs to user 4711") as refused:
            look(str(file))
        assert "chown 0" in (refused.value.hint or "")


def test_what_is_written_is_read(tmp_path: Path, open_umask: None) -> None:
    """The file is 0600, replaced as a whole, and nothing temporary stays."""
    file = tmp_path / "f"
    for data in (b"one", b"two"):
        paths.write_private(str(file), data)
        assert paths.read_private(str(file)) == data
    assert mode(file) == 0o600
    assert os.listdir(tmp_path) == ["f"]


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    """A replaced file keeps its old bytes for whoever has it open."""
    file = tmp_path / "f"
    paths.write_private(str(file), b"old")
    with file.open("rb") as held:
        paths.write_private(str(file), b"newer")
        assert held.read() == b"old"


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    """Writing over a planted symbolic link leaves its target alone."""
    target, file = tmp_path / "target", tmp_path / "f"
    target.write_text("precious")
    file.symlink_to(target)
    paths.write_private(str(file), b"ours")
    assert target.read_text() == "precious"
    assert not file.is_symlink()


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the error is DiskFull, the old bytes stay, and no temporary file does."""
    file = tmp_path / "f"
    paths.write_private(str(file), b"old")

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull, match="No space left"):
        paths.write_private(str(file), b"new")
    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_a_missing_folder_is_an_error_of_ours(tmp_path: Path) -> None:
    """Writing where nothing can be written says so and how to go on."""
    with pytest.raises(StorageTrouble, match="could not be written") as refused:
        paths.write_private(str(tmp_path / "absent" / "f"), b"x")
    assert "RECALLD_HOME" in (refused.value.hint or "")


def test_reading_refuses_what_others_could_have_made(tmp_path: Path) -> None:
    """Open modes, links, folders and pipes are refused without waiting; missing is None."""
    assert paths.read_private(str(tmp_path / "absent")) is None
    (tmp_path / "open").touch()
    (tmp_path / "open").chmod(0o640)
    (tmp_path / "link").symlink_to(tmp_path / "open")
    (tmp_path / "folder").mkdir(mode=0o700)
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("open", "link", "folder", "pipe"):
        with pytest.raises(UnsafePermissions, match=name):
            paths.read_private(str(tmp_path / name))


def test_reading_stops_at_the_limit(tmp_path: Path) -> None:
    """A file longer than anything we write is not read into memory."""
    file = tmp_path / "f"
    paths.write_private(str(file), b"x" * 11)
    assert paths.read_private(str(file), 11) == b"x" * 11
    with pytest.raises(StorageTrouble, match="longer than 10 bytes"):
        paths.read_private(str(file), 10)


@pytest.mark.parametrize(
    "path", ["/plain/x.y", "/with space", "/it's", "/new\nline", "/$(x)`y`", ""]
)
def test_a_quoted_path_is_one_word_for_the_shell(path: str) -> None:
    """Remedies can be pasted as they are."""
    assert shlex.split(paths.quote(path)) == [path]
