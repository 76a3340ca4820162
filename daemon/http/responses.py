"""The response models: what `/openapi.json` promises about answers."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from .fields import Response


class Health(Response):
    """Alive."""

    status: Literal["ok"]
    phase: Literal["ready", "draining"]


class Hello(Response):
    """Who answers; `mac` proves it."""

    instance: str
    version: str
    api: list[int]
    phase: Literal["ready", "draining"]
    stale_code: bool
    mac: str


class Stopping(Response):
    """The daemon is on its way out."""

    result: Literal["draining"]
    pid: int


class Grant(Response):
    """A grant, without its token."""

    id: str
    namespaces: dict[str, str]
    checkout: str | None
    created_at: str
    expires_at: str | None
    label: str
    fingerprint: str


class GrantWithToken(Grant):
    """A new or rotated grant; the token cannot be had again."""

    token: str


class GrantList(Response):
    """Every grant."""

    grants: list[Grant]


class Revoked(Response):
    """The grant is gone."""

    id: str
    result: Literal["revoked"]


class Ignored(Response):
    """A memory that no longer holds."""

    id: str
    content: str


class Stored(Response):
    """What became of a memory.

    `flags` such as `secret:github-token` say what is in it; `ignore` what it replaced.
    """

    id: str
    result: Literal["stored", "duplicate", "superseded"]
    namespace: str
    version: int
    flags: list[str] | None = None
    ignore: list[Ignored] | None = None


class Wrong(Response):
    """What went wrong: a stable code, a sentence, and the remedy."""

    code: str
    message: str
    hint: str
    retry_after_ms: int | None = None


class Error(Response):
    """The body of every error."""

    error: Wrong


class StoredMany(Response):
    """One result for each item, in the order of the items."""

    results: list[Stored | Error]


class Forgotten(Response):
    """The memory is gone; its history stays."""

    id: str
    result: Literal["forgotten"]
    namespace: str


class Memory(Response):
    """One memory; `speaker`, `role` and `session` are those of a turn, null for the rest."""

    id: str
    namespace: str
    kind: str
    content: str
    detail: str | None
    tags: list[str]
    importance: float
    evidence: int
    source: dict[str, JsonValue]
    status: str
    version: int
    created_at: str
    updated_at: str
    observed_at: str | None
    speaker: str | None
    role: str | None
    session: str | None
    valid_from: str | None
    valid_to: str | None
    supersedes: str | None
    superseded_by: str | None


class MemoryPage(Response):
    """One page of memories; `next_cursor` asks for the following one."""

    items: list[Memory]
    next_cursor: str | None


class History(Response):
    """Versions of a memory, oldest first, and the cursor of those after them."""

    versions: list[dict[str, JsonValue]]
    next_cursor: str | None


class Hit(Response):
    """One memory found; what would be null is left out."""

    id: str
    namespace: str
    kind: str
    content: str
    tags: list[str]
    score: float
    created_at: str
    observed_at: str | None = None
    speaker: str | None = None
    role: str | None = None
    session: str | None = None
    why: dict[str, JsonValue] | None = None


class Recalled(Response):
    """What was found, best first; `degraded` says what could not take part."""

    hits: list[Hit]
    degraded: list[str]
    took_ms: float


class Found(Response):
    """What was found by words."""

    hits: list[Hit]
    total: int | None
    took_ms: float


class CloseReading(Response):
    """How far close reading is: `unread` memories are left (counted to 100,000), and it is
    `working`, `done` or `failed`.
    """

    unread: int
    state: str
    last_error: str | None


class Embedding(Response):
    """The state of the vectors: of `total` memories `pending` still wait for theirs and `refused`
    get none, and `reading` is null for an embedder that makes one vector of a memory only; all of
    this only the owner is told. `embedder` is the setting, `model` what it stands for once that is
    loaded; `questions` says whether it gives them vectors, `ok` or `failing`. `serving` is the
    model whose vectors answer meanwhile, null where only words do.
    """

    embedder: str = ""
    model: str | None
    dim: int | None
    pending: int | None
    total: int | None = 0
    refused: int | None = 0
    state: str
    questions: str = "ok"
    last_error: str | None = None
    serving: str | None = None
    reading: CloseReading | None = None


class Reembedding(Response):
    """That it has begun; `GET /v1/status` tells how far it is."""

    result: Literal["begun"]


class Llm(Response):
    """What the language model the user turned on did and cost; tokens are partly estimates."""

    provider: str
    calls: int
    calls_today: int
    tokens_in: int
    tokens_out: int
    kept: int
    skipped: int
    waiting: int
    last_error: str | None


class Status(Response):
    """The daemon and what it holds, as far as the caller may know; null is for the owner only.

    `quarantined` of the memories are set aside for review. `last_error` is of a request that failed
    inside, else of the vectors.
    """

    pid: int
    port: int
    version: str
    api: list[int]
    instance: str
    phase: str
    started_at: str
    uptime_s: float
    managed_by: str
    memories: int
    quarantined: int
    namespaces: int
    queue: int | None
    recalls: int | None
    connections: int | None
    streams: int
    wal_bytes: int | None
    vectors: bool
    words: Literal["ok", "rebuilding", "damaged"] = "ok"
    ranking: Literal["ok", "unavailable"] = "ok"
    embedding: Embedding
    llm: Llm | None
    last_error: str | None
    stale_code: bool


class NamespaceStats(Response):
    """What one namespace holds."""

    namespace: str
    memories: int
    kinds: dict[str, int]
    statuses: dict[str, int]
    first_at: str | None
    last_at: str | None


class Stats(Response):
    """Every namespace the grant may read."""

    namespaces: list[NamespaceStats]


class Change(Response):
    """The data of one `change` event."""

    id: str
    op: Literal["upsert", "remove"]
    namespace: str
    version: int


class Description(Response):
    """The OpenAPI document."""

    openapi: str
