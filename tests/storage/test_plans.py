"""How SQLite goes about the statements of recall: none may walk through a namespace it need not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import apsw
import pytest
from recalld.storage import memories, namespaces, shelf_rows

from tests.storage.opened import HERE, SCOPE, Opened

CALLS: dict[str, Callable[[apsw.Connection], Iterable[object]]] = {
    "rows chosen for a shelf": lambda c: shelf_rows.chosen(c, 1, [1, 2]),
    "rows chosen without their texts": lambda c: shelf_rows.without_texts(c, 1, [1, 2]),
    "hits": lambda c: memories.fetch(c, SCOPE, [1, 2]),
}


def plans(
    connection: apsw.Connection, call: Callable[[apsw.Connection], Iterable[object]]
) -> list[str]:
    """How SQLite goes about what the call asks of memories."""
    asked: list[tuple[str, Any]] = []

    def note(_: apsw.Cursor, statement: str, bindings: Any) -> bool:
        if "FROM memories" in statement:
            asked.append((statement, bindings))
        return True

    connection.exec_trace = note
    try:
        list(call(connection))
    finally:
        connection.exec_trace = None
    explained = [connection.execute(f"EXPLAIN QUERY PLAN {s}", b) for s, b in asked]
    return [str(row[3]) for plan in explained for row in plan]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_rows_known_by_id_are_read_by_id(
    opened: Opened, call: Callable[[apsw.Connection], Iterable[object]]
) -> None:
    """A handful of rows costs the same in a namespace of a million; by its index it took 80 ms."""
    opened.note("one", HERE)
    steps = opened.read(lambda connection: plans(connection, call))
    assert any("USING INTEGER PRIMARY KEY (rowid=?)" in step for step in steps), steps
    assert not any("INDEX memories_by" in step for step in steps), steps


def test_what_is_set_aside_is_counted_by_its_own_index(opened: Opened) -> None:
    """A status is asked for often, and a million memories that are not meant cost it nothing."""
    for number in range(4):
        ulid = opened.note(f"number {number}")
        opened.edit(ulid, status="quarantined" if number < 3 else "archived")
    assert list(opened.read(namespaces.set_aside).values()) == [3]
    (step,) = opened.read(lambda connection: plans(connection, namespaces.set_aside))
    assert "COVERING INDEX memories_aside" in step
