"""The full-text index: one entry per memory, in its transaction; searched within a scope only.

The namespace is a word inside the index, made of a private-use letter no analysed text contains.
That costs half of a join with the table, or less.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import apsw

from . import analyser, labels, namespaces
from .memories import COLUMNS, Memory, from_row
from .scope import Scope, identify

WEIGHTS: Final = (1.0, 0.5, 0.5)
# From this share of all rows on, the namespace word selects nearly everything and only costs time.
_WHOLE_STORE: Final = 0.9
# Rows counted one by one before the rest is estimated.
_COUNTED: Final = 256
_MATCH: Final = (
    "SELECT rowid, bm25(fts, ?, ?, ?, 0.0) AS score FROM fts WHERE fts MATCH ? "
    "ORDER BY score LIMIT ?"
)
_MATCH_JOINED: Final = (
    f"SELECT f.rowid, f.score FROM ({_MATCH}) f JOIN memories m ON m.rid = f.rowid "  # noqa: S608  # constants
    "WHERE m.ns IN (SELECT value FROM json_each(?)) ORDER BY f.score"
)

_NEXT_TURN: Final = (
    f"SELECT {COLUMNS} FROM memories m WHERE m.ns = :ns AND m.session = :session AND m.turn = "  # noqa: S608  # constant columns
    "(SELECT min(turn) FROM memories WHERE ns = :ns AND session = :session AND turn > :turn)"
)


def put(connection: apsw.Connection, rid: int, ns: int, body: str, ctx: str, meta: str) -> None:
    """Write the entry of a row, in place of the one it may have. The texts are analysed here."""
    connection.execute(
        "INSERT OR REPLACE INTO fts(rowid, body, ctx, meta, ns) VALUES (?, ?, ?, ?, ?)",
        (
            rid,
            analyser.index_text(body),
            analyser.index_text(ctx),
            _index_label(meta),
            namespace_word(ns),
        ),
    )


@lru_cache(maxsize=128)
def _index_label(meta: str) -> str:
    """Rows stored on one day have few different labels."""
    return analyser.index_text(meta)


def index(
    connection: apsw.Connection, rid: int, ns: int, memory: Memory, context: str | None = None
) -> None:
    """Write the entry of a memory at its row; without `context` the turn before is looked up."""
    if context is None:
        context = previous_turn(connection, ns, memory.session, memory.turn)
    body = memory.content if memory.detail is None else f"{memory.content}\n{memory.detail}"
    put(connection, rid, ns, body, context, labels.of(memory))


def remove(connection: apsw.Connection, rid: int) -> None:
    """Take the entry of a row away."""
    connection.execute("DELETE FROM fts WHERE rowid = ?", (rid,))


def match(
    connection: apsw.Connection,
    scope: Scope,
    terms: Sequence[str],
    *,
    require_all: bool = False,
    own: bool = False,
    limit: int = 200,
    weights: tuple[float, float, float] = WEIGHTS,
) -> list[tuple[int, float]]:
    """The best rows for the terms within the scope: (row id, score), best first, scores positive.

    A term is one word of `analyser.tokens`, or several with blanks between for a phrase. One term
    is enough for a hit, unless `require_all`. No terms, no hits. With `own` the turn before a turn
    does not count, only the memory's text and labels.
    """
    found = list(identify(connection, scope))
    wanted = _expression(terms, require_all)
    if own and wanted:
        wanted = f"{{body meta}} : ({wanted})"
    if not (found and wanted):
        return []
    share = _share(connection, found)
    if share >= _WHOLE_STORE:
        # Nearly the whole store: search without the word, then keep what lies in the scope.
        bindings = (*weights, wanted, limit + limit // 4, json.dumps(found))
        hits = _scores(connection.execute(_MATCH_JOINED, bindings))
        if share == 1.0 or len(hits) >= limit:
            return hits[:limit]
    words = " OR ".join(_quote(namespace_word(ns)) for ns in found)
    bindings_narrow = (*weights, f"({words}) AND ({wanted})", limit)
    return _scores(connection.execute(_MATCH, bindings_narrow))


def count(
    connection: apsw.Connection, scope: Scope, terms: Sequence[str], *, require_all: bool = False
) -> int:
    """How many rows of the scope match in all."""
    found = list(identify(connection, scope))
    wanted = _expression(terms, require_all)
    if not (found and wanted):
        return 0
    words = " OR ".join(_quote(namespace_word(ns)) for ns in found)
    return int(
        connection.execute(
            "SELECT count(*) FROM fts WHERE fts MATCH ?", (f"({words}) AND ({wanted})",)
        ).get
    )


def holding(
    connection: apsw.Connection, scope: Scope, terms: Sequence[str], *, limit: int
) -> list[int]:
    """The newest rows of the scope that hold all terms; without a score that is cheap."""
    found = list(identify(connection, scope))
    wanted = _expression(terms, require_all=True)
    if not (found and wanted):
        return []
    words = " OR ".join(_quote(namespace_word(ns)) for ns in found)
    rows = connection.execute(
        "SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rowid DESC LIMIT ?",
        (f"({words}) AND ({wanted})", limit),
    )
    return [rid for (rid,) in rows]


def in_text(connection: apsw.Connection, scope: Scope, term: str) -> Iterator[int]:
    """The rows of the scope whose text or detail holds the term, in no useful order."""
    words = " OR ".join(_quote(namespace_word(ns)) for ns in identify(connection, scope))
    if not (words and term.strip()):
        return
    wanted = f"({words}) AND ({{body}} : {_quote(term)})"
    for (rid,) in connection.execute("SELECT rowid FROM fts WHERE fts MATCH ?", (wanted,)):
        yield rid


def document_frequency(connection: apsw.Connection, term: str) -> int:
    """How many rows of the whole store hold the term (after stemming), in 0.2 ms at any size.

    Exact up to some hundred rows; beyond that judged by the newest ones: how close together they
    lie says how many there are if the word is spread evenly. Asking the index costs 4 ms a word.
    """
    rows = connection.execute(
        "SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rowid DESC LIMIT ?",
        (_quote(term), _COUNTED),
    )
    newest: list[int] = [rid for (rid,) in rows]
    if len(newest) < _COUNTED:
        return len(newest)
    last: int = connection.execute("SELECT ifnull(max(rid), 0) FROM memories").get
    return _COUNTED * last // max(_COUNTED, last - newest[-1] + 1)


def namespace_word(ns: int) -> str:
    """The word that stands for a namespace in the index."""
    return f"\ue000{ns}"


def previous_turn(
    connection: apsw.Connection, ns: int, session: str | None, turn: int | None
) -> str:
    """The text of the turn before, or "" for a memory that is no turn or the first."""
    if session is None or turn is None:
        return ""
    found = connection.execute(
        "SELECT content FROM memories WHERE ns = ? AND session = ? AND turn < ? "
        "ORDER BY turn DESC LIMIT 1",
        (ns, session, turn),
    ).get
    return "" if found is None else str(found)


def index_next_turn(
    connection: apsw.Connection, ns: int, session: str | None, turn: int | None
) -> None:
    """Write the entry of the turn after this one anew: it holds the words of the one before it."""
    if session is None or turn is None:
        return
    where = {"ns": ns, "session": session, "turn": turn}
    for row in list(connection.execute(_NEXT_TURN, where)):
        index(connection, row[0], ns, from_row(row, namespaces.names(connection)[ns]))


def check(connection: apsw.Connection) -> str:
    """FTS5's own check of the index: "" when it holds together, else what SQLite says."""
    try:
        connection.execute("INSERT INTO fts(fts) VALUES ('integrity-check')")
    except apsw.CorruptError as error:
        return str(error)
    return ""


def rebuild(connection: apsw.Connection) -> int:
    """Write every entry anew from the table, inside the caller's transaction; returns how many."""
    connection.execute("INSERT INTO fts(fts) VALUES ('delete-all')")
    names = namespaces.names(connection)
    done = 0
    for row in connection.execute(f"SELECT {COLUMNS} FROM memories m"):  # noqa: S608  # constant columns
        index(connection, row[0], row[2], from_row(row, names[row[2]]))
        done += 1
    return done


def _expression(terms: Sequence[str], require_all: bool) -> str:
    glue = " AND " if require_all else " OR "
    return glue.join(_quote(term) for term in dict.fromkeys(terms) if term.strip())


def _quote(term: str) -> str:
    """Text is never syntax: inside double quotes FTS5 knows no operators."""
    return '"' + term.replace('"', '""').replace("\0", " ") + '"'


def _share(connection: apsw.Connection, found: Sequence[int]) -> float:
    """What part of the store's memories lies in these namespaces, 0 to 1."""
    rows = namespaces.sizes(connection)
    return sum(rows.get(ns, 0) for ns in found) / max(1, sum(rows.values()))


def _scores(rows: apsw.Cursor) -> list[tuple[int, float]]:
    return [(int(rid), -float(score)) for rid, score in rows]
