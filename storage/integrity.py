"""Does the store hold together: a quick look at every start, a full one on request."""

from __future__ import annotations

import os
from typing import Final, NamedTuple

import apsw

from . import connections, fulltext, migrations, vectors
from .checkpoints import PAGE_BYTES, wal_bytes
from .faults import Damaged, NewerSchema

_TABLES: Final = (
    "memories", "versions", "chain_heads", "namespaces", "fts", "spaces", "idempotency", "meta",
)  # fmt: skip


# The database header, https://www.sqlite.org/fileformat2.html section 1.3.
_MAGIC: Final = b"SQLite format 3\x00"
_PAGES: Final = slice(28, 32)
_APPLICATION: Final = slice(68, 72)


class Report(NamedTuple):
    """What the full check found; all of it is fine when `problems` is empty.

    `without_vector` is no problem: those rows are embedded in the background.
    """

    problems: list[str]
    memories: int
    without_vector: int


def probe(path: str) -> None:
    """Look at an existing file without changing a byte of it or of its WAL.

    Raises Damaged if it is no store of ours, NewerSchema if it is ahead of this code.
    """
    header(path)
    careful = connections.open_careful(path)
    try:
        found, newest = migrations.version(careful), migrations.STEPS[-1].number
    finally:
        careful.close()
    if found > newest:
        raise NewerSchema(found, newest)


def header(path: str) -> None:
    """Raise Damaged unless the file on disk begins like a store of ours and is not cut short.

    Beside a WAL it may be shorter than it says: a checkpoint writes the first page before the last,
    and one that was interrupted leaves it so. What is missing is in the WAL then.
    """
    try:
        first = connections.header(path)
        is_alone = wal_bytes(f"{path}-wal") == 0
        size = os.stat(path).st_size
    except (apsw.Error, OSError) as error:
        raise Damaged(f"memory.db cannot be read: {error}.") from error
    if not first.startswith(_MAGIC):
        raise Damaged("memory.db cannot be read: file is not a database.")
    if first[_APPLICATION] != migrations.APPLICATION_ID.to_bytes(4, "big"):
        raise Damaged("memory.db is an SQLite file, but not one of recalld's.")
    if is_alone and size < int.from_bytes(first[_PAGES], "big") * PAGE_BYTES:
        raise Damaged("memory.db has lost its end.")


def quick(connection: apsw.Connection) -> None:
    """Raise Damaged unless every table is there and can be read at both ends; takes no time."""
    present = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    missing = [name for name in _TABLES if name not in present]
    if missing:
        raise Damaged(f"memory.db has lost its tables {', '.join(missing)}.")
    for name in _TABLES[:4]:
        connection.execute(
            f"SELECT * FROM {name} ORDER BY rowid LIMIT 1"  # noqa: S608  # our own names
        ).fetchall()
        connection.execute(
            f"SELECT * FROM {name} ORDER BY rowid DESC LIMIT 1"  # noqa: S608  # our own names
        ).fetchall()


def full(connection: apsw.Connection) -> Report:
    """Check every page, and that rows, full text, vectors and counts agree; reads everything."""
    problems = _table_problems(connection)
    if not problems:
        problems = [*_index_problems(connection), *_count_problems(connection)]
        for space in vectors.spaces(connection):
            problems += _vector_problems(connection, space)
    waiting = [vectors.pending_count(connection, space) for space in vectors.spaces(connection)]
    memories = 0 if problems else int(connection.execute("SELECT count(*) FROM memories").get)
    return Report(problems, memories, max(waiting, default=0))


def _table_problems(connection: apsw.Connection) -> list[str]:
    try:
        found = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(20)")]
    except apsw.Error as error:
        return [f"the file cannot be checked: {error}"]
    return [] if found == ["ok"] else found


def _index_problems(connection: apsw.Connection) -> list[str]:
    problems: list[str] = []
    if complaint := fulltext.check(connection):
        problems.append(f"the full-text index is damaged: {complaint}")
    missing = _number(
        connection, "SELECT count(*) FROM memories WHERE rid NOT IN (SELECT id FROM fts_docsize)"
    )
    dead = _number(
        connection, "SELECT count(*) FROM fts_docsize WHERE id NOT IN (SELECT rid FROM memories)"
    )
    if missing:
        problems.append(f"{missing} memories are missing from the full-text index")
    if dead:
        problems.append(f"the full-text index holds {dead} entries of no memory")
    return problems


def _count_problems(connection: apsw.Connection) -> list[str]:
    wrong = _number(
        connection,
        "SELECT count(*) FROM namespaces n WHERE n.rows <> "
        "(SELECT count(*) FROM memories m WHERE m.ns = n.id)",
    )
    return [f"{wrong} namespaces miscount their memories"] if wrong else []


def _vector_problems(connection: apsw.Connection, space: vectors.Space) -> list[str]:
    dead = _number(
        connection,
        f"SELECT count(*) FROM {space.table}_rowids WHERE rowid NOT IN "  # noqa: S608  # our own name
        "(SELECT rid FROM memories)",
    )
    return [f"{dead} vectors of {space.name} belong to no memory"] if dead else []


def _number(connection: apsw.Connection, query: str) -> int:
    return int(connection.execute(query).get)
