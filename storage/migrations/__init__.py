"""The numbered steps that made the schema what it is, and the runner that applies them.

Each step runs in one transaction together with the row that records it, so a crash leaves the
schema before it or after it. An existing file is copied to `snapshots/` first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import apsw

from .. import copies
from ..faults import NewerSchema
from . import m0001_initial, m0002_learning

# "RCLD": what `file` and we recognise a store by.
APPLICATION_ID: Final = 0x52434C44


class Step(NamedTuple):
    """One migration: `apply` changes the schema inside the runner's transaction."""

    number: int
    name: str
    apply: Callable[[apsw.Connection], None]


STEPS: Final[Sequence[Step]] = (
    Step(1, "initial", m0001_initial.apply),
    Step(2, "learning", m0002_learning.apply),
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
    copy = _snapshot(connection, path, have)
    apply_all(connection, steps)
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
    """A complete copy in `snapshots/pre-<number>-<time>.db`, on disk before anything changes."""
    folder = os.path.join(os.path.dirname(path), "snapshots")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    stamp = str(connection.execute("SELECT strftime('%Y%m%dT%H%M%S', 'now')").get)
    target = os.path.join(folder, f"pre-{have + 1:04d}-{stamp}.db")
    copies.write(connection, target)
    return target
