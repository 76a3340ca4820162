"""From JSON documents to models. Unknown fields are ignored: a newer daemon may send more."""

from __future__ import annotations

from typing import NamedTuple

from ...auth.errors import RecalldError, from_wire
from ..connection.documents import (
    Document,
    count,
    document,
    items,
    maybe_text,
    number,
    rows,
    strings,
    text,
)
from .models import (
    Embedding,
    Entry,
    Found,
    Hit,
    NamespaceStats,
    Page,
    Recalled,
    Receipt,
    Status,
    Version,
)


def receipt(doc: Document) -> Receipt:
    """The receipt of one stored memory."""
    return Receipt(
        text(doc, "id"), text(doc, "result"), text(doc, "namespace"), count(doc, "version")
    )


def receipts(doc: Document) -> list[Receipt | RecalldError]:
    """One receipt, or the error that took its place, for each item of a batch."""
    return [
        from_wire(result, 400) if "error" in result else receipt(result)
        for result in rows(doc.get("results"))
    ]


def entry(doc: Document) -> Entry:
    """One whole memory."""
    return Entry(
        id=text(doc, "id"),
        namespace=text(doc, "namespace"),
        kind=text(doc, "kind"),
        content=text(doc, "content"),
        status=text(doc, "status"),
        version=count(doc, "version"),
        created_at=text(doc, "created_at"),
        updated_at=text(doc, "updated_at"),
        detail=maybe_text(doc, "detail"),
        tags=tuple(strings(doc.get("tags"))),
        importance=number(doc, "importance"),
        evidence=count(doc, "evidence"),
        source=document(doc.get("source")),
        observed_at=maybe_text(doc, "observed_at"),
        valid_from=maybe_text(doc, "valid_from"),
        valid_to=maybe_text(doc, "valid_to"),
        supersedes=maybe_text(doc, "supersedes"),
        superseded_by=maybe_text(doc, "superseded_by"),
        speaker=maybe_text(doc, "speaker"),
        role=maybe_text(doc, "role"),
        session=maybe_text(doc, "session"),
    )


def page(doc: Document) -> Page:
    """One page of a listing."""
    return Page(tuple(map(entry, rows(doc.get("items")))), maybe_text(doc, "next_cursor"))


def _hit(doc: Document) -> Hit:
    return Hit(
        id=text(doc, "id"),
        namespace=text(doc, "namespace"),
        kind=text(doc, "kind"),
        content=text(doc, "content"),
        score=number(doc, "score"),
        created_at=text(doc, "created_at"),
        tags=tuple(strings(doc.get("tags"))),
        why=document(doc["why"]) if doc.get("why") is not None else None,
        observed_at=maybe_text(doc, "observed_at"),
        speaker=maybe_text(doc, "speaker"),
        role=maybe_text(doc, "role"),
        session=maybe_text(doc, "session"),
    )


def recalled(doc: Document) -> Recalled:
    """The answer of a recall."""
    hits = tuple(map(_hit, rows(doc.get("hits"))))
    return Recalled(hits, tuple(strings(doc.get("degraded"))), number(doc, "took_ms"))


def found(doc: Document) -> Found:
    """The answer of a search."""
    total = None if doc.get("total") is None else count(doc, "total")
    return Found(tuple(map(_hit, rows(doc.get("hits")))), total, number(doc, "took_ms"))


class Versions(NamedTuple):
    """One page of a memory's history, oldest first; `next_cursor` asks for the following one."""

    versions: tuple[Version, ...]
    next_cursor: str | None


def versions(doc: Document) -> Versions:
    """One page of a history."""
    return Versions(tuple(map(_version, rows(doc.get("versions")))), maybe_text(doc, "next_cursor"))


def _version(item: Document) -> Version:
    return Version(
        count(item, "version"),
        text(item, "op"),
        text(item, "at"),
        text(item, "by"),
        text(item, "content"),
        item,
    )


def stats(doc: Document) -> list[NamespaceStats]:
    """What each readable namespace holds."""
    return [
        NamespaceStats(
            text(item, "namespace"),
            count(item, "memories"),
            _counts(item, "kinds"),
            _counts(item, "statuses"),
            maybe_text(item, "first_at"),
            maybe_text(item, "last_at"),
        )
        for item in rows(doc.get("namespaces"))
    ]


def _counts(doc: Document, key: str) -> dict[str, int]:
    inner = document(doc.get(key))
    return {name: count(inner, name) for name in inner}


def status(doc: Document) -> Status:
    """How the daemon is doing."""
    vectors = document(doc.get("embedding"))
    low, high = [
        value if isinstance(value, int) else 0 for value in [*items(doc.get("api")), 0, 0]
    ][:2]
    return Status(
        pid=count(doc, "pid"),
        port=count(doc, "port"),
        version=text(doc, "version"),
        api=(low, high),
        uptime_s=number(doc, "uptime_s"),
        managed_by=text(doc, "managed_by"),
        memories=count(doc, "memories"),
        namespaces=count(doc, "namespaces"),
        queue=count(doc, "queue"),
        wal_bytes=count(doc, "wal_bytes"),
        embedding=Embedding(
            maybe_text(vectors, "model"),
            count(vectors, "dim") or None,
            count(vectors, "pending"),
            text(vectors, "state"),
        ),
        last_error=maybe_text(doc, "last_error"),
        fields=doc,
    )


def nothing(_doc: Document) -> None:
    """For answers that say no more than that it was done."""
