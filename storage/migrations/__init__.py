"""The numbered steps that made the schema what it is, and the runner that applies them.

Each step runs in one transaction together with the row that records it, so a crash leaves the
schema before it or after it. An existing file is copied to `snapshots/` first; a step that fails at
every start does not make a copy at every start.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import apsw

from .. import copies
from ..connections import open_frozen
from ..faults import NewerSchema
from . import m0001_initial, m0002_learning, m0003_events, m0004_unread, m0005_pieces, m0006_aside

# "RCLD": what `file` and we recognise a store by.
APPLICATION_ID: Final = 0x52434C44
# Copies made before migrations that stay.
KEPT: Final = 3
_log = logging.getLogger(__name__)
_NAME: Final = re.compile(r"pre-\d{4}-\d{8}T\d{6}\.db")


class Step(NamedTuple):
    """One migration: `apply` changes the schema inside the runner's transaction."""

    number: int
    name: str
    apply: Callable[[apsw.Connection], None]


STEPS: Final[Sequence[Step]] = (
    Step(1, "initial", m0001_initial.apply),
    Step(2, "learning", m0002_learning.apply),
    Step(3, "events", m0003_events.apply),
    Step(4, "unread", m0004_unread.apply),
    Step(5, "pieces", m0005_pieces.apply),
    Step(6, "aside", m0006_aside.apply),
)


def apply_all(connection: apsw.Connection, steps: Sequence[Step] = STEPS) -> None:
    """Apply every step the file does not have yet, each in its own transaction."""
    have = version(connection)
    for step in steps:
        if step.number > have:
            _apply(connection, step)


def bring_up_to_date(
    connection: apsw.Connection, path: str, steps: Sequence[Step] = STEPS
) -> str | None:
    """Migrate an existing store; returns the path of the snapshot taken first, if one was needed.

    Raises NewerSchema when the file is ahead of this code, FullDisk when the copy does not fit.
    """
    have, newest = version(connection), steps[-1].number
    if have > newest:
        raise NewerSchema(have, newest)
    if have == newest:
        return None
    _log.info("copying the store, then bringing it from schema %d to %d", have, newest)
    copy = _snapshot(connection, path, have)
    apply_all(connection, steps)
    _log.info("the store has schema %d; the copy is %s", newest, copy)
    return copy


def version(connection: apsw.Connection) -> int:
    """The number of the last step applied to this file."""
    return int(connection.pragma("user_version"))


def _apply(connection: apsw.Connection, step: Step) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        step.apply(connection)
        connection.execute(
            "INSERT INTO migrations(number, name, at) "
            "VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
            (step.number, step.name),
        )
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", step.number)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _snapshot(connection: apsw.Connection, path: str, have: int) -> str:
    """A complete copy in `snapshots/pre-<number>-<time>.db`, on disk before anything changes.

    One of the same state is taken for it; beyond KEPT the oldest go.
    """
    folder = os.path.join(os.path.dirname(path), "snapshots")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for known in reversed(_snapshots(folder)):
        if _state_of(known) == _state(connection):
            return known
    stamp = str(connection.execute("SELECT strftime('%Y%m%dT%H%M%S', 'now')").get)
    target = os.path.join(folder, f"pre-{have + 1:04d}-{stamp}.db")
    copies.write(connection, target)
    for old in _snapshots(folder)[:-KEPT]:
        os.unlink(old)
    return target


def _snapshots(folder: str) -> list[str]:
    """The copies made before migrations, oldest first."""
    names = [name for name in os.listdir(folder) if _NAME.fullmatch(name)]
    names.sort(key=lambda name: name.rpartition("-")[2])
    return [os.path.join(folder, name) for name in names]


def _state_of(copy: str) -> tuple[int, bytes | None] | None:
    """The state of a copy; None for a file that cannot be read."""
    try:
        frozen = open_frozen(copy)
        try:
            return _state(frozen)
        finally:
            frozen.close()
    except apsw.Error:
        return None


def _state(connection: apsw.Connection) -> tuple[int, bytes | None]:
    """Schema and last entry of the history, whose hash covers everything anyone wrote before."""
    last: bytes | None = connection.execute(
        "SELECT hash FROM versions ORDER BY id DESC LIMIT 1"
    ).get
    return version(connection), last
