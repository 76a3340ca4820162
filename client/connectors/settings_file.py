"""Reading and replacing somebody else's file: never half, never over a change we have not seen.

A symbolic link is written through (dotfiles kept elsewhere are common), unless it leads out of the
checkout it lies in: a repository must not be able to have us write elsewhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from ...auth.errors import InvalidRequest, InvalidSettings, StorageTrouble
from ...auth.paths import quote, trouble

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of a settings file; ~/.claude.json grows to a few million."""

FOREIGN = frozenset({"node_modules", "vendor", "third_party", "site-packages", ".venv"})
"""Folders of a checkout with other people's code in them, which nothing is written into."""


class Moved(Exception):
    """Somebody else changed the file while we were at it; `str()` is its path."""


class Content(NamedTuple):
    """A file as it was read: its real path, and None for bytes and status when there is none."""

    path: str
    data: bytes | None
    mode: int
    stamp: tuple[int, int, int] | None


def real_path(path: str, root: str) -> str:
    """Where the file really lies; raises InvalidRequest for places we do not write to.

    `root` is the checkout it must stay inside, "" for a person's own settings.
    """
    real = os.path.realpath(path)
    parts = (os.path.relpath(real, root) if root else real).split(os.sep)
    if root and parts[0] == os.pardir:
        raise InvalidRequest(f"{path} leads out of the checkout, to {real}.", hint="Remove it.")
    if ".git" in parts or (root and FOREIGN & set(parts)):
        raise InvalidRequest(f"{real} is in a folder that recalld does not write to.")
    if os.path.islink(path) and not os.path.exists(real):
        raise InvalidRequest(f"{path} is a link to {real}, which does not exist.")
    return real


def read(path: str, root: str = "") -> Content:
    """The file as it is now; raises InvalidRequest or StorageTrouble."""
    real = real_path(path, root)
    try:
        fd = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return Content(real, None, 0o600 if not root else 0o666 & ~_umask(), None)
    except OSError as error:
        raise _trouble(real, "read", error) from error
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
        os.close(fd)
        raise InvalidRequest(f"{real} is no file of settings.", hint="Move it away.")
    with open(fd, "rb") as file:
        return Content(real, file.read(), stat.S_IMODE(found.st_mode), _stamp(found))


def check_writable(content: Content) -> None:
    """Raise StorageTrouble where replacing the file would override what somebody meant by it."""
    if content.data is None:
        return
    found = os.stat(content.path)
    if not found.st_mode & 0o222:
        raise StorageTrouble(
            f"{content.path} is read-only.", hint=f"Run: chmod u+w {quote(content.path)}"
        )
    if found.st_uid != os.geteuid():
        raise StorageTrouble(f"{content.path} belongs to user {found.st_uid}, not to you.")


def replace(content: Content, data: bytes) -> None:
    """Put these bytes in the file's place, in one step, with the folders that are missing.

    Raises Moved when it is no longer what was read, StorageTrouble when it cannot be written.
    """
    check_writable(content)
    folder = os.path.dirname(content.path)
    _make_folders(folder)
    temporary = os.path.join(folder, f".{os.path.basename(content.path)}.{os.getpid()}.recalld")
    try:
        _write(temporary, data, content.mode)
        _check_unmoved(content)
        os.replace(temporary, content.path)
    except OSError as error:
        raise _trouble(content.path, "written", error) from error
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def remove(content: Content, folders: Sequence[str]) -> None:
    """Delete the file, and those of the folders that are empty then. Raises as `replace` does."""
    check_writable(content)
    _check_unmoved(content)
    try:
        os.unlink(content.path)
    except OSError as error:
        raise _trouble(content.path, "removed", error) from error
    for folder in reversed(folders):
        with suppress(OSError):  # somebody else uses it by now
            os.rmdir(folder)


def missing_folders(path: str) -> list[str]:
    """The folders above the file that do not exist yet, from the top."""
    found: list[str] = []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        found.insert(0, folder)
        folder = os.path.dirname(folder)
    return found


def decoded(content: Content) -> tuple[str, str]:
    """The byte order mark, if any, and the text; raises InvalidSettings when it is not UTF-8."""
    try:
        text = (content.data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidSettings(
            f"{content.path} is not UTF-8 (byte {error.start}).",
            hint="Mend it and run this again; nothing was changed.",
        ) from error
    return ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)


def _make_folders(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise _trouble(folder, "created", error) from error


def _write(path: str, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _check_unmoved(content: Content) -> None:
    try:
        now = _stamp(os.lstat(content.path))
    except OSError:
        now = None
    if now != content.stamp:
        raise Moved(content.path)


def _stamp(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_ino, found.st_mtime_ns, found.st_size


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _trouble(path: str, deed: str, error: OSError) -> StorageTrouble:
    """As for our own files, without the advice to move the data folder."""
    found = trouble(path, deed, error)
    found.hint = "Mend that and run this again; the file is as it was."
    return found
