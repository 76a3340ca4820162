"""Schema 4: which rows have only the vector that was made at once, and wait for a better one."""

from __future__ import annotations

from typing import Final

import apsw

SCHEMA: Final = """
CREATE TABLE unread(
  space INTEGER NOT NULL, rid INTEGER NOT NULL, PRIMARY KEY (space, rid)
) STRICT, WITHOUT ROWID;
"""


def apply(connection: apsw.Connection) -> None:
    """Make the table of rows to be read."""
    connection.execute(SCHEMA)
