"""Copies of the store that are proven to open before they get their name."""

from __future__ import annotations

import os

import apsw

from . import connections, copies, integrity
from .engine import Store
from .faults import Damaged, from_sqlite


def create(store: Store, target: str) -> integrity.Report:
    """Write a complete, checked copy of the store to `target` (absolute, replaced if it exists).

    Runs on its own connection: writers go on meanwhile. Raises FullDisk or Damaged; a failure
    leaves no file behind.
    """
    draft = f"{target}.part"
    if os.path.lexists(draft):
        os.unlink(draft)
    source = connections.open_copy(store.path, vectors=store.has_vectors)
    try:
        copies.write(source, draft)
        report = _proven(draft, vectors=store.has_vectors)
        os.replace(draft, target)
    except apsw.Error as error:
        raise (from_sqlite(error) or Damaged(f"The copy failed: {error}.")) from error
    finally:
        source.close()
        if os.path.lexists(draft):
            os.unlink(draft)
    copies.sync(os.path.dirname(target))
    return report


def _proven(copy: str, *, vectors: bool) -> integrity.Report:
    """The full check of the copy itself; it must hold together before anyone relies on it."""
    connection = connections.open_copy(copy, vectors=vectors)
    try:
        report = integrity.full(connection)
    finally:
        connection.close()
    if report.problems:
        raise Damaged(f"The copy does not hold together: {report.problems[0]}.")
    return report
