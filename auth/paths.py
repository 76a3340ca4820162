"""Where recalld keeps its files, and how a file that must be ours alone is made, checked and read.

    <data>/             0700  $RECALLD_HOME, else the platform's data folder
      memory.db, grants.json, signing.key, config.toml
      run/              0700
        daemon.lock, spawn.lock, grant.lock   flocks, never unlinked
        daemon.json                           discovery record, only ever replaced by rename
        daemon.log, last-exit.json

Everything hangs off one data folder and nothing off $XDG_RUNTIME_DIR: that one is unset in cron, su
and containers, and two callers computing different folders would start two daemons. Hooks import
this module, so it costs no more than `os`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Mapping
from typing import NamedTuple

from .errors import DiskFull, InvalidSettings, StorageTrouble, UnsafePermissions

SMALL_FILE = 16_384
"""Bytes read at most from a record, a token or a key; the largest of them is under 1 KiB."""

_OPEN_TO_OTHERS = 0o077
_SAFE_IN_SHELL = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,"
)
_MOVE_HINT = "Set RECALLD_HOME to a folder of yours on a local file system."


class Layout(NamedTuple):
    """Absolute path of every file and folder recalld has a fixed place for."""

    data: str
    run: str
    lock: str
    spawn_lock: str
    grant_lock: str
    record: str
    log: str
    last_exit: str
    db: str
    grants: str
    signing_key: str
    config: str


def layout(environ: Mapping[str, str]) -> Layout:
    """The files of the data folder that `environ` asks for; nothing is created or checked.

    Raises InvalidSettings for a relative RECALLD_HOME, or when there is no home folder at all.
    """
    data = _data_folder(environ)
    run = os.path.join(data, "run")
    return Layout(
        data=data,
        run=run,
        lock=os.path.join(run, "daemon.lock"),
        spawn_lock=os.path.join(run, "spawn.lock"),
        grant_lock=os.path.join(run, "grant.lock"),
        record=os.path.join(run, "daemon.json"),
        log=os.path.join(run, "daemon.log"),
        last_exit=os.path.join(run, "last-exit.json"),
        db=os.path.join(data, "memory.db"),
        grants=os.path.join(data, "grants.json"),
        signing_key=os.path.join(data, "signing.key"),
        config=os.path.join(data, "config.toml"),
    )


def _data_folder(environ: Mapping[str, str]) -> str:
    chosen = environ.get("RECALLD_HOME", "")
    if chosen.startswith("~/"):
        chosen = os.path.join(_home(environ), chosen[2:])
    if chosen:
        # Relative to what? A client and its daemon have different working folders.
        if not os.path.isabs(chosen) or "\0" in chosen:
            raise InvalidSettings(
                f"RECALLD_HOME is {chosen!r}, which is not an absolute path.",
                hint="Set it to an absolute path, or unset it.",
            )
        return os.path.normpath(chosen)
    shared = environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(shared):  # the XDG specification: a relative value is to be ignored
        return os.path.join(shared, "recalld")
    if sys.platform == "darwin":
        return os.path.join(_home(environ), "Library", "Application Support", "recalld")
    return os.path.join(_home(environ), ".local", "share", "recalld")


def _home(environ: Mapping[str, str]) -> str:
    """$HOME, unless it is unset or someone else's (sudo keeps it), then the account's own."""
    home = environ.get("HOME", "")
    if os.path.isabs(home) and _is_ours_or_absent(home):
        return home
    import pwd  # only needed off the beaten path

    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:  # a container user without an account
        if os.path.isabs(home):
            return home
    raise InvalidSettings("There is no home folder for this user.", hint=_MOVE_HINT)


def _is_ours_or_absent(folder: str) -> bool:
    try:
        return os.stat(folder).st_uid == os.geteuid()
    except OSError:
        return True


def ensure_private_dir(path: str) -> None:
    """Create the folder with mode 0700 if it is missing, then check it as `check_private` does.

    Raises UnsafePermissions, DiskFull, or StorageTrouble when it can't be created.
    """
    created = _make_folder(path)
    if created and stat.S_IMODE(os.lstat(path).st_mode) & _OPEN_TO_OTHERS:
        raise UnsafePermissions(
            f"{path} is on a file system that keeps no permissions, so others could read it.",
            hint=_MOVE_HINT,
        )
    check_private_dir(path)


def check_private_dir(path: str) -> None:
    """Refuse what `check_private` refuses, and a file; raises like it."""
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) and not stat.S_ISLNK(found.st_mode):
        # Before its modes: those could be mended, and it would still be no folder.
        raise _no_folder(path)
    refuse_unsafe(path, found)


def _no_folder(path: str) -> UnsafePermissions:
    return UnsafePermissions(
        f"{path} is a file, not a folder.", hint=f"Move it away. Or: {_MOVE_HINT}"
    )


def _make_folder(path: str) -> bool:
    """Whether the folder was made just now; parents get the usual modes, only it gets 0700."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError as error:
        raise trouble(path, "created", error) from error
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return False
    except OSError as error:
        raise trouble(path, "created", error) from error
    return True


def check_private(path: str) -> None:
    """Refuse a file or folder that is a symlink, someone else's, or open to others.

    Raises UnsafePermissions with the command that mends it; FileNotFoundError when it is missing.
    """
    refuse_unsafe(path, os.lstat(path))


def refuse_unsafe(path: str, found: os.stat_result) -> None:
    """The judgement behind `check_private`, for a caller that holds the open file's status.

    Raises UnsafePermissions.
    """
    if stat.S_ISLNK(found.st_mode):
        raise UnsafePermissions(
            f"{path} is a symbolic link; recalld only trusts the real thing.",
            hint=f"Put the real file or folder there: rm {quote(path)}",
        )
    _refuse_foreign(path, found)
    if found.st_mode & _OPEN_TO_OTHERS:
        wanted = "700" if stat.S_ISDIR(found.st_mode) else "600"
        raise UnsafePermissions(
            f"{path} is open to others (mode {stat.S_IMODE(found.st_mode):o}).",
            hint=f"Run: chmod {wanted} {quote(path)}",
        )


def _refuse_foreign(path: str, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise UnsafePermissions(
            f"{path} belongs to user {found.st_uid}, not to you ({os.geteuid()}).",
            hint=f"Run: sudo chown {os.geteuid()} {quote(path)}",
        )


def refuse_written_by_anybody(path: str, found: os.stat_result) -> None:
    """The judgement of an open file that we obey, though others may read it: settings.

    The owner may have linked it from elsewhere, and a system may provide it (root could change us
    too). Raises UnsafePermissions for what anybody could have written, and for what is no file.
    """
    if not stat.S_ISREG(found.st_mode):
        raise UnsafePermissions(f"{path} is not a regular file.", hint="Move it away.")
    if found.st_uid != 0:
        _refuse_foreign(path, found)
    if found.st_mode & _writable_by_anybody():
        raise UnsafePermissions(
            f"{path} can be changed by anybody (mode {stat.S_IMODE(found.st_mode):o}).",
            hint=f"Run: chmod 600 {quote(path)}",
        )


def _writable_by_anybody() -> int:
    """The bits of which one lets every user write.

    The group's is none of them: with umask 002 every file is made so, for a group of one. But on
    macOS everybody's files are of the group `staff`, and everybody is in it.
    """
    return 0o022 if sys.platform == "darwin" else 0o002


def write_private(
    path: str, data: bytes, *, dir_fd: int | None = None, shown: str = ""
) -> os.stat_result:
    """Replace the file by one with mode 0600 that holds `data`, atomically and for good.

    Readers see the old bytes or the new ones, also after a power cut. With `dir_fd`, `path` is a
    bare name inside that open folder, and `shown` the path for error messages. Returns the new
    file's status. Raises DiskFull or StorageTrouble; the old file is then untouched.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(6).hex()}")
    try:
        written = _write_new(temporary, data, dir_fd)
        os.replace(temporary, path, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        _sync_folder(folder, dir_fd)
    except OSError as error:
        _forget(temporary, dir_fd)
        raise trouble(shown or path, "written", error) from error
    return written


def _write_new(path: str, data: bytes, dir_fd: int | None) -> os.stat_result:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600, dir_fd=dir_fd), "wb") as file:
        os.fchmod(file.fileno(), 0o600)  # whatever the umask took away
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        return os.fstat(file.fileno())


def _sync_folder(folder: str, dir_fd: int | None) -> None:
    """Make the rename itself durable."""
    fd = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _forget(path: str, dir_fd: int | None) -> None:
    with contextlib.suppress(OSError):  # never created, or already renamed
        os.unlink(path, dir_fd=dir_fd)


def read_private(
    path: str, limit: int = SMALL_FILE, *, dir_fd: int | None = None, shown: str = ""
) -> bytes | None:
    """The bytes of a file that is ours alone; None when it is missing.

    The open file itself is judged, so nobody can swap it between check and read. `shown` is the
    path named in errors when `path` is a bare name inside `dir_fd`. Raises UnsafePermissions for a
    symlink, another owner, an open mode or anything but a regular file; StorageTrouble when it
    can't be read or is longer than `limit` bytes.
    """
    shown = shown or path
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, dir_fd=dir_fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            refuse_unsafe(shown, os.lstat(path, dir_fd=dir_fd))
        raise trouble(shown, "read", error) from error
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise UnsafePermissions(f"{shown} is not a regular file.", hint="Move it away.")
        refuse_unsafe(shown, found)
        data = _read(fd, limit + 1)
    finally:
        os.close(fd)
    if len(data) > limit:
        raise StorageTrouble(f"{shown} is longer than {limit} bytes.", hint="Move it away.")
    return data


def read_plain(path: str, limit: int = SMALL_FILE, *, dir_fd: int | None = None) -> bytes | None:
    """The bytes of a regular file, whoever made it; None when there is none of `limit` at most.

    For files that hold no secret and are trusted no further than their place: a symbolic link is
    not followed, and a FIFO can't make us wait.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, dir_fd=dir_fd)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        data = _read(fd, limit + 1)
    except OSError:
        return None
    finally:
        os.close(fd)
    return data if len(data) <= limit else None


def _read(fd: int, size: int) -> bytes:
    """At most `size` bytes from an open file; a single read may stop short of them."""
    data = b""
    while len(data) < size and (part := os.read(fd, size - len(data))):
        data += part
    return data


def trouble(path: str, deed: str, error: OSError) -> StorageTrouble:
    """What the system said about a file, as an error of ours: DiskFull, StorageTrouble, or that a
    folder on the way to it is a file.
    """
    if error.errno in (errno.ENOTDIR, errno.EEXIST) and (above := _file_above(path)):
        return _no_folder(above)
    why = error.strerror or "unknown error"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"{path} could not be {deed}: {why}.", hint="Free some space.")
    return StorageTrouble(f"{path} could not be {deed}: {why}.", hint=_MOVE_HINT)


def _file_above(path: str) -> str:
    """The file that stands where a folder of this path should be; "" when none does."""
    above = os.path.dirname(path)
    while not os.path.lexists(above) and above != os.path.dirname(above):
        above = os.path.dirname(above)
    return above if above and not os.path.isdir(above) else ""


def quote(path: str) -> str:
    """The path as one word of a shell command."""
    if path and _SAFE_IN_SHELL.issuperset(path):
        return path
    return "'" + path.replace("'", "'\\''") + "'"
