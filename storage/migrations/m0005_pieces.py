"""Schema 5: what each word piece of a turn means in it, for comparing piece by piece."""

from __future__ import annotations

from typing import Final

import apsw

SCHEMA: Final = """
CREATE TABLE pieces(
  id INTEGER PRIMARY KEY, rid INTEGER NOT NULL, space INTEGER NOT NULL, states BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX pieces_of_row ON pieces(rid, space);
CREATE INDEX pieces_of_space ON pieces(space);
"""


def apply(connection: apsw.Connection) -> None:
    """Make the table of pieces."""
    connection.execute(SCHEMA)
