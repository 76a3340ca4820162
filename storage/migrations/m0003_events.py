"""Schema 3: the id of an event counts everywhere, not only in the namespace that took it in.

A checkout that is moved, pinned or granted anew between two deliveries of the same event would have
it taken in twice.
"""

from __future__ import annotations

from typing import Final

import apsw

SCHEMA: Final = """
CREATE TABLE taken(id TEXT PRIMARY KEY, at TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO taken(id, at) SELECT id, at FROM taken_events ORDER BY at DESC;
DROP TABLE taken_events;
ALTER TABLE taken RENAME TO taken_events;
CREATE INDEX taken_events_by_time ON taken_events(at);
"""


def apply(connection: apsw.Connection) -> None:
    """Make the ids of taken events unique in the whole store."""
    connection.execute(SCHEMA)
