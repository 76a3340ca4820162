"""Schema 1: memories and their history, full text, embedding spaces, replies, meta."""

from __future__ import annotations

from typing import Final

import apsw

# No triggers: a statement with one opens a savepoint, and FTS5 then flushes what it has gathered
# to disk. Row by row that made a batch five times as slow.

# The tokens are made by storage/analyser.py; the stock tokenizer only splits at blanks, stems
# English and keeps marks (M*, Indic and Thai vowels) and emoji (So). Private-use characters (Co)
# are letters to it and never come out of the analyser: the namespace token is made of one, so no
# text forges it.
SCHEMA: Final = """
CREATE TABLE migrations(number INTEGER PRIMARY KEY, name TEXT NOT NULL, at TEXT NOT NULL) STRICT;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE namespaces(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, rows INTEGER NOT NULL DEFAULT 0
) STRICT;

-- AUTOINCREMENT: a row id is never used twice, so a reader that still holds the id of a forgotten
-- memory finds nothing instead of another memory.
CREATE TABLE memories(
  rid INTEGER PRIMARY KEY AUTOINCREMENT,
  ulid TEXT NOT NULL UNIQUE,
  ns INTEGER NOT NULL REFERENCES namespaces(id),
  version INTEGER NOT NULL,
  kind TEXT NOT NULL,
  content TEXT NOT NULL,
  detail TEXT,
  tags TEXT NOT NULL DEFAULT '[]',
  importance REAL NOT NULL,
  evidence INTEGER NOT NULL DEFAULT 1,
  source TEXT NOT NULL DEFAULT '{}',
  status TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  observed_at TEXT,
  valid_from TEXT,
  valid_to TEXT,
  supersedes TEXT,
  superseded_by TEXT,
  content_hash BLOB NOT NULL,
  created_by TEXT NOT NULL,
  session TEXT,
  turn INTEGER,
  actor TEXT,
  role TEXT
) STRICT;
CREATE INDEX memories_by_time ON memories(ns, created_at, rid);
CREATE INDEX memories_by_hash ON memories(ns, content_hash);
CREATE INDEX memories_by_session ON memories(ns, session, turn) WHERE session IS NOT NULL;

CREATE TABLE versions(
  id INTEGER PRIMARY KEY,
  ns INTEGER NOT NULL,
  ulid TEXT NOT NULL,
  version INTEGER NOT NULL,
  op TEXT NOT NULL,
  at TEXT NOT NULL,
  by TEXT NOT NULL,
  doc BLOB NOT NULL,
  prev_hash BLOB NOT NULL,
  hash BLOB NOT NULL,
  signature BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX versions_by_memory ON versions(ulid, version);
CREATE TABLE chain_heads(
  ns INTEGER PRIMARY KEY, hash BLOB NOT NULL, length INTEGER NOT NULL
) STRICT;

CREATE TABLE counters(
  rid INTEGER PRIMARY KEY,
  recalled INTEGER NOT NULL DEFAULT 0,
  loaded INTEGER NOT NULL DEFAULT 0,
  injected INTEGER NOT NULL DEFAULT 0,
  cited INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE VIRTUAL TABLE fts USING fts5(
  body, ctx, meta, ns, content='', contentless_delete=1,
  tokenize="porter unicode61 categories 'L* N* Co M* So'"
);
CREATE VIRTUAL TABLE fts_terms USING fts5vocab(fts, row);

CREATE TABLE spaces(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  model TEXT NOT NULL,
  dim INTEGER NOT NULL,
  prefix TEXT NOT NULL,
  created_at TEXT NOT NULL,
  active INTEGER NOT NULL DEFAULT 1
) STRICT;

-- Rows whose vectors must go as soon as the vector extension can be loaded again.
CREATE TABLE stale_vectors(rid INTEGER PRIMARY KEY) STRICT;

CREATE TABLE idempotency(
  grant_id TEXT NOT NULL,
  key TEXT NOT NULL,
  digest BLOB NOT NULL,
  status INTEGER NOT NULL,
  body BLOB NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (grant_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_time ON idempotency(at);
"""


def apply(connection: apsw.Connection) -> None:
    """Make the tables of schema 1 in an empty file."""
    connection.execute(SCHEMA)
