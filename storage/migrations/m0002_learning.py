"""Schema 2: what is learned from agents at work: outcomes, lessons, rules, checkpoints, events."""

from __future__ import annotations

from typing import Final

import apsw

# Written out in the index and in storage/rules.py alike: SQLite uses a partial index only for a
# query that repeats its condition.
RULE_KINDS: Final = "'correction', 'devops', 'failure', 'preference', 'solution'"

SCHEMA: Final = f"""
CREATE INDEX memories_by_rule ON memories(ns, kind, created_at)
  WHERE status = 'active' AND kind IN ({RULE_KINDS});
CREATE INDEX counters_by_cited ON counters(cited) WHERE cited > 0;

-- Events already taken in: a hook that lost its answer sends the same one again.
CREATE TABLE taken_events(
  ns INTEGER NOT NULL, id TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (ns, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX taken_events_by_time ON taken_events(at);

-- What is known of an agent's session. Memories shown before `refreshed_at` are no longer in its
-- context: it was compacted or cleared since.
CREATE TABLE agent_sessions(
  ns INTEGER NOT NULL,
  session TEXT NOT NULL,
  host TEXT NOT NULL,
  started_at TEXT NOT NULL,
  last_at TEXT NOT NULL,
  ended_at TEXT,
  refreshed_at TEXT NOT NULL,
  goal TEXT,
  said TEXT,
  prompts INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (ns, session)
) STRICT, WITHOUT ROWID;

-- Which memory a session has had to do with, and how: loaded, injected, relevant or cited.
CREATE TABLE exposures(
  ns INTEGER NOT NULL,
  session TEXT NOT NULL,
  ulid TEXT NOT NULL,
  how TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (ns, session, ulid, how)
) STRICT, WITHOUT ROWID;
CREATE INDEX exposures_by_memory ON exposures(ulid, how);

CREATE TABLE hard_rules(
  ns INTEGER NOT NULL,
  ulid TEXT NOT NULL,
  tool TEXT NOT NULL,
  pattern TEXT NOT NULL,
  by TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (ns, ulid)
) STRICT, WITHOUT ROWID;
CREATE TABLE denials(
  ns INTEGER NOT NULL,
  session TEXT NOT NULL,
  ulid TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (ns, session, ulid)
) STRICT, WITHOUT ROWID;

CREATE TABLE preference_keys(
  ns INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  ulid TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (ns, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE outcomes(
  id INTEGER PRIMARY KEY,
  ns INTEGER NOT NULL,
  session TEXT NOT NULL,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  tool TEXT NOT NULL,
  command_class TEXT NOT NULL,
  attempt TEXT NOT NULL,
  error TEXT NOT NULL,
  signature TEXT NOT NULL,
  test TEXT NOT NULL,
  pending INTEGER NOT NULL,
  reasked INTEGER NOT NULL DEFAULT 0,
  fix TEXT,
  episode INTEGER
) STRICT;
CREATE INDEX outcomes_by_session ON outcomes(ns, session, id);
CREATE INDEX outcomes_by_time ON outcomes(at);

CREATE TABLE episodes(
  id INTEGER PRIMARY KEY,
  ns INTEGER NOT NULL,
  session TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at TEXT NOT NULL,
  goal TEXT NOT NULL,
  outcome TEXT NOT NULL,
  failures INTEGER NOT NULL,
  fixes INTEGER NOT NULL,
  reasks INTEGER NOT NULL,
  tests_passed INTEGER NOT NULL,
  tests_failed INTEGER NOT NULL
) STRICT;
CREATE INDEX episodes_by_time ON episodes(ns, ended_at);

CREATE TABLE lessons(
  ulid TEXT PRIMARY KEY,
  ns INTEGER NOT NULL,
  signature TEXT NOT NULL,
  command_class TEXT NOT NULL,
  failing TEXT NOT NULL,
  error TEXT NOT NULL,
  fix TEXT NOT NULL,
  fix_class TEXT NOT NULL,
  confidence REAL NOT NULL,
  evidence INTEGER NOT NULL,
  severe INTEGER NOT NULL,
  status TEXT NOT NULL,
  memory TEXT,
  session TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX lessons_by_signature ON lessons(ns, signature);
CREATE INDEX lessons_by_class ON lessons(ns, command_class);
CREATE INDEX lessons_by_session ON lessons(ns, session);
CREATE INDEX lessons_by_memory ON lessons(ns, memory);
CREATE INDEX lessons_by_status ON lessons(status, updated_at);

CREATE TABLE task_checkpoints(
  id INTEGER PRIMARY KEY,
  ns INTEGER NOT NULL,
  completed TEXT NOT NULL,
  remaining TEXT NOT NULL,
  blockers TEXT NOT NULL,
  notes TEXT NOT NULL,
  session TEXT,
  automatic INTEGER NOT NULL,
  cleared INTEGER NOT NULL DEFAULT 0,
  by TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX task_checkpoints_by_namespace ON task_checkpoints(ns, id);
"""


def apply(connection: apsw.Connection) -> None:
    """Add the tables of schema 2 to a store of schema 1."""
    connection.execute(SCHEMA)
