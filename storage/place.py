"""Whether memory.db and its folder are fit to keep memories: ours, private, on a real file system.

Everything here looks at names (`lstat`) only. Opening and closing one of the three files beside
SQLite would drop the locks this process holds on it.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from typing import Final

from .faults import UnsafePlace

COMPANIONS: Final = ("", "-wal", "-shm")
# File systems without the byte-range locks and shared memory that WAL needs.
NETWORK_TYPES: Final = frozenset({
    "nfs", "nfs3", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afpfs", "webdav", "davfs", "ncpfs",
    "afs", "9p", "drvfs", "ceph", "glusterfs", "lustre", "beegfs", "gpfs", "pvfs2", "fuse.sshfs",
    "fuse.rclone", "fuse.s3fs", "fuse.davfs2", "fuse.glusterfs", "fuse.gvfsd-fuse",
    "fuse.onedriver", "fuse.google-drive-ocamlfuse",
})  # fmt: skip
# Folders a sync service copies behind SQLite's back.
SYNCED_PARTS: Final = ("Library/Mobile Documents", "Library/CloudStorage")


def check(path: str) -> None:
    """Raise UnsafePlace unless the file (if there is one) and its folder are safe to use."""
    folder = os.path.dirname(path)
    _check_private(folder, os.lstat(folder), folder=True)
    for suffix in COMPANIONS:
        try:
            found = os.lstat(path + suffix)
        except FileNotFoundError:
            continue
        _check_private(path + suffix, found, folder=False)
    check_file_system(folder, file_system(folder))


def _check_private(path: str, found: os.stat_result, *, folder: bool) -> None:
    name = shlex.quote(path)
    if stat.S_ISLNK(found.st_mode):
        raise UnsafePlace("symlink", path, f"Put the real thing in place of the link: ls -l {name}")
    if not (stat.S_ISDIR if folder else stat.S_ISREG)(found.st_mode):
        raise UnsafePlace("file_type", path, f"Move it out of the way: ls -ld {name}")
    if found.st_uid != os.geteuid():
        raise UnsafePlace("owner", path, f"sudo chown {os.geteuid()} {name}")
    if found.st_mode & 0o077:
        raise UnsafePlace("permissions", path, f"chmod {'700' if folder else '600'} {name}")


def check_file_system(folder: str, kind: str) -> None:
    """Raise UnsafePlace for a network file system or a folder that a service syncs."""
    real = os.path.realpath(folder)
    if kind in NETWORK_TYPES or any(part in real for part in SYNCED_PARTS):
        raise UnsafePlace(
            "file_system", folder, "Set RECALLD_HOME to a folder on a local, unsynced disk."
        )


def file_system(folder: str) -> str:
    """Type of the file system the folder lies on (`ext4`, `nfs4`, …), or "" if unknown."""
    if sys.platform == "darwin":
        return _statfs_type(folder)
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as mounts:
            return type_in_mounts(os.path.realpath(folder), mounts.read())
    except OSError:
        return ""


def type_in_mounts(real: str, mounts: str) -> str:
    """Type of the mount that holds the real path; the last of the longest mount points wins."""
    best, kind = "", ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = _unescape(fields[1])
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind


def _unescape(field: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, char)
    return field


def _statfs_type(folder: str) -> str:
    """f_fstypename of macOS's `struct statfs`: 16 bytes at offset 72."""
    import ctypes  # only macOS has no other way to ask

    buffer = ctypes.create_string_buffer(4096)
    libc = ctypes.CDLL(None, use_errno=True)
    statfs = getattr(libc, "statfs$INODE64", None) or libc.statfs
    if statfs(os.fsencode(folder), buffer) != 0:
        return ""
    return buffer.raw[72:88].split(b"\0", 1)[0].decode("ascii", "replace")
