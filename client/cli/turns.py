"""What was said in a conversation, as people read it: `Bob, 2026-05-01: text`."""

from __future__ import annotations

from ..connection.documents import Document, text


def said(memory: Document) -> str:
    """The memory's text; that of a turn after who said it and on which day, as far as known."""
    content = text(memory, "content")
    if text(memory, "kind") != "conversation":
        return content
    who = text(memory, "speaker") or text(memory, "role")
    head = ", ".join(part for part in (who, text(memory, "observed_at")[:10]) if part)
    return f"{head}: {content}" if head else content
