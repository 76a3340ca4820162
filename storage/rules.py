"""Memories that act as rules: the candidates for a session's context, by kind and use."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

import apsw

from .memories import COLUMNS, Memory, from_row
from .migrations.m0002_learning import RULE_KINDS
from .scope import Scope, identify

MOST_CANDIDATES: Final = 100
"""Of one kind: more never fit into any budget that is asked for."""

_ACTIVE: Final = (
    f"m.status = 'active' AND m.kind IN ({RULE_KINDS}) AND m.ns = :ns AND m.kind = :kind"
)
_VALID: Final = "(m.valid_to IS NULL OR m.valid_to > strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))"
# CROSS JOIN: from the few that were ever cited to their rows, never the other way round.
_CITED: Final = (
    f"SELECT {COLUMNS}, c.cited FROM counters c CROSS JOIN memories m ON m.rid = c.rid "  # noqa: S608  # constants
    f"WHERE c.cited > 0 AND {_ACTIVE} AND {_VALID} "
    "ORDER BY c.cited DESC, m.created_at DESC LIMIT :limit"
)
_FRESH: Final = (
    f"SELECT {COLUMNS}, 0 FROM memories m WHERE {_ACTIVE} AND {_VALID} "  # noqa: S608  # constants
    "ORDER BY m.created_at DESC, m.rid DESC LIMIT :limit"
)
_COUNT: Final = f"SELECT count(*) FROM memories m WHERE {_ACTIVE}"  # noqa: S608  # constants


class Rule(NamedTuple):
    """A memory that acts as a rule, and how often agents said they applied it."""

    memory: Memory
    cited: int


def candidates(
    connection: apsw.Connection, scope: Scope, kind: str, limit: int = MOST_CANDIDATES
) -> list[Rule]:
    """The best active rules of a kind: by citations, then the newest; each at most once.

    Two reads of each namespace, each along an index: sorting a large one would read all of it.
    """
    found: dict[int, Rule] = {}
    for statement in (_CITED, _FRESH):
        for ns, name in identify(connection, scope).items():
            for row in connection.execute(statement, {"ns": ns, "kind": kind, "limit": limit}):
                *columns, cited = row
                memory = from_row(tuple(columns), name)  # pyright: ignore[reportArgumentType]  # COLUMNS
                found.setdefault(memory.rid, Rule(memory, int(cited)))
    return sorted(found.values(), key=_rank, reverse=True)[:limit]


def count(connection: apsw.Connection, scope: Scope, kind: str) -> int:
    """How many active rules of the kind there are in the scope, those no longer valid included."""
    return sum(
        int(connection.execute(_COUNT, {"ns": ns, "kind": kind}).get)
        for ns in identify(connection, scope)
    )


def _rank(rule: Rule) -> tuple[int, str, int]:
    return rule.cited, rule.memory.created_at, rule.memory.rid


_UNUSED: Final = (
    f"SELECT {COLUMNS} FROM memories m LEFT JOIN counters c ON c.rid = m.rid "  # noqa: S608  # constants
    f"WHERE m.status = 'active' AND m.kind IN ({RULE_KINDS}) AND m.kind <> 'solution' "
    "AND m.ns IN (SELECT value FROM json_each(:ns)) AND m.created_at < :before "
    "AND coalesce(c.cited, 0) = 0 "
    "AND NOT EXISTS (SELECT 1 FROM hard_rules h WHERE h.ns = m.ns AND h.ulid = m.ulid) "
    "AND (SELECT count(DISTINCT e.session) FROM exposures e WHERE e.ulid = m.ulid "
    "AND e.how IN ('injected', 'relevant')) >= :sessions LIMIT :limit"
)


def unused(
    connection: apsw.Connection,
    scope: Scope,
    *,
    before: str,
    sessions: int,
    limit: int = MOST_CANDIDATES,
) -> list[Memory]:
    """Active rules stored before this time, relevant in so many sessions and never cited.

    Being loaded into sessions that had nothing to do with a rule says nothing against it. Solutions
    are never among them, nor rules marked hard, which are the user's own word.
    """
    names = identify(connection, scope)
    bindings = {
        "ns": json.dumps(list(names)), "before": before, "sessions": sessions, "limit": limit,
    }  # fmt: skip
    return [from_row(row, names[row[2]]) for row in connection.execute(_UNUSED, bindings)]
