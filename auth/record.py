"""The discovery record `run/daemon.json`: where the daemon listens, and the secret that proves it.

The file is 0600 in a 0700 folder and only ever replaced by rename, so a reader sees one whole
record. Whoever can read it is the owner: its secret answers hello and opens the owner's routes.
"""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from .errors import StorageTrouble, UnsafePermissions
from .paths import Layout, check_private, read_plain, read_private, write_private

API: tuple[int, int] = (1, 1)
"""Lowest and highest API this code speaks, independent of the package's version."""

SCHEMA = 1
"""Shape of the record; unknown keys are ignored, an unknown shape is refused."""

_LOOPBACK = ("127.0.0.1", "::1")
_HEX = frozenset("0123456789abcdef")


class Record(NamedTuple):
    """What one running daemon publishes about itself.

    `instance` and `secret` (32 bytes as 64 hex digits) are new for every process; `boot_id` and
    `host_id` say where it runs; `api` is the range it speaks; `managed_by` is spawn, systemd,
    launchd or foreground; `started_at` is RFC 3339.
    """

    instance: str
    pid: int
    boot_id: str
    host_id: str
    host: str
    port: int
    secret: str
    version: str
    api: tuple[int, int]
    managed_by: str
    started_at: str


class StaleRecord(Exception):
    """There is a record, but no daemon we can use behind it; `reason` is a sentence's second half.

    Never shown as such: a client goes on to start a daemon, which publishes over it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def boot_id() -> str:
    """Identity of this boot of the kernel; empty where the platform does not tell (macOS)."""
    return _first_line("/proc/sys/kernel/random/boot_id")


def host_id() -> str:
    """Identity of the machine and its network namespace, which is what 127.0.0.1 is local to.

    Empty where the platform does not tell. The host's name is no part of it: laptops change theirs
    with the network, and a record must not go stale by that.
    """
    try:
        network = os.readlink("/proc/self/ns/net")
    except OSError:
        network = ""
    return _first_line("/etc/machine-id") + network


def _first_line(path: str) -> str:
    line, _, _ = (read_plain(path) or b"").partition(b"\n")
    return line.decode("ascii", "replace").strip()


def publish(layout: Layout, record: Record) -> None:
    """Make this the record clients find; raises DiskFull or StorageTrouble. Listen first."""
    document = {"schema": SCHEMA, **record._asdict()}
    write_private(layout.record, json.dumps(document).encode())


def read(layout: Layout) -> Record | None:
    """The published record; None when there is none.

    Raises StaleRecord for one that is garbage, of another shape, boot or host, or not on loopback;
    UnsafePermissions when the file or its folder could have been touched or read by others.
    """
    try:
        check_private(layout.run)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        data = read_private(layout.record)
    except UnsafePermissions:
        raise
    except StorageTrouble:  # longer than any record, or unreadable: a new daemon replaces it
        raise StaleRecord("the discovery record cannot be read") from None
    if data is None:
        return None
    record = _decode(data)
    _check_place(record)
    return record


def _decode(data: bytes) -> Record:
    try:
        document: object = json.loads(data)
    except (ValueError, RecursionError):
        raise StaleRecord("the discovery record is not JSON") from None
    match document:
        case {
            "schema": 1,
            "instance": str(instance),
            "pid": int(pid),
            "boot_id": str(boot),
            "host_id": str(machine),
            "host": str(host),
            "port": int(port),
            "secret": str(secret),
            "version": str(version),
            "api": [int(lowest), int(highest)],
            "managed_by": str(managed_by),
            "started_at": str(started_at),
        }:
            api = (lowest, highest)
        case {"schema": int(schema)} if schema != SCHEMA:
            raise StaleRecord(f"the discovery record has schema {schema}, this code knows {SCHEMA}")
        case _:
            raise StaleRecord("the discovery record lacks a field")
    if not (0 < port < 65536 and len(secret) == 64 and _HEX.issuperset(secret)):
        raise StaleRecord("the discovery record has an impossible port or secret")
    return Record(
        instance, pid, boot, machine, host, port, secret, version, api, managed_by, started_at
    )


def _check_place(record: Record) -> None:
    if record.host not in _LOOPBACK:
        raise StaleRecord("the discovery record does not point at this machine")
    if record.boot_id != boot_id():
        raise StaleRecord("the discovery record was written before the last boot")
    if record.host_id != host_id():
        raise StaleRecord("the daemon runs on another host or in another network namespace")


def withdraw(layout: Layout, instance: str) -> bool:
    """Remove the record if it is still this instance's own; whether it was and is gone.

    Only the holder of daemon.lock may call it: with the lock held nobody else publishes, so the
    record can't change between look and removal.
    """
    try:
        data = read_private(layout.record)
        if data is None or _decode(data).instance != instance:
            return False
        os.unlink(layout.record)
    except (StaleRecord, StorageTrouble, OSError):
        return False  # a folder that became read-only must not keep the daemon from ending
    return True
