"""What the SDK returns: frozen dataclasses, one for each shape of answer.

Times are RFC 3339 UTC with milliseconds, ids are ULIDs, importance and scores are numbers from 0
up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a memory: `result` is stored, duplicate, superseded, merged or quarantined."""

    id: str
    result: str
    namespace: str
    version: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory as the daemon keeps it; `speaker`, `role` and `session` are those of a turn."""

    id: str
    namespace: str
    kind: str
    content: str
    status: str
    version: int
    created_at: str
    updated_at: str
    detail: str | None = None
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    evidence: int = 1
    source: Mapping[str, object] = field(default_factory=dict[str, object])
    observed_at: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    speaker: str | None = None
    role: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory that was found; `why` is there when an explanation was asked for.

    `speaker`, `role` and `session` are those of a turn, `observed_at` is when it was said.
    """

    id: str
    namespace: str
    kind: str
    content: str
    score: float
    created_at: str
    tags: tuple[str, ...] = ()
    why: Mapping[str, object] | None = None
    observed_at: str | None = None
    speaker: str | None = None
    role: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer of a recall, best first; `degraded` says what could not take part in it."""

    hits: tuple[Hit, ...]
    degraded: tuple[str, ...]
    took_ms: float


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of a search; `total` is None where counting would cost too much."""

    hits: tuple[Hit, ...]
    total: int | None
    took_ms: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page of memories, newest first; `next_cursor` asks for the following one."""

    items: tuple[Entry, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a memory; `op` is store, edit, forget, undo or supersede, `by` a grant."""

    version: int
    op: str
    at: str
    by: str
    content: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class NamespaceStats:
    """What one namespace holds."""

    namespace: str
    memories: int
    kinds: Mapping[str, int]
    statuses: Mapping[str, int]
    first_at: str | None
    last_at: str | None


@dataclass(frozen=True, slots=True)
class Embedding:
    """The state of the vectors: `pending` rows still have none (0: only the owner is told)."""

    model: str | None
    dim: int | None
    pending: int
    state: str


@dataclass(frozen=True, slots=True)
class Status:
    """How the daemon is doing; `fields` is the whole answer.

    `queue` and `wal_bytes` read as 0 with a grant: only the owner is told.
    """

    pid: int
    port: int
    version: str
    api: tuple[int, int]
    uptime_s: float
    managed_by: str
    memories: int
    namespaces: int
    queue: int
    wal_bytes: int
    embedding: Embedding
    last_error: str | None
    fields: Mapping[str, object]
