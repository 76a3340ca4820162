"""Checked requests as drafts for the store."""

from __future__ import annotations

from collections.abc import Iterator

from ...storage.drafts import Draft
from ...storage.memories import CONVERSATION
from ..http.schemas import ConversationRequest, StoreRequest, Turn
from .text import clean


def from_request(request: StoreRequest, namespace: str) -> Draft:
    """One memory to store in `namespace`. Raises PayloadTooLarge."""
    source = request.source.model_dump(exclude_none=True) if request.source else {}
    return Draft(
        namespace=namespace,
        content=clean(request.content),
        kind=request.kind,
        detail=None if request.detail is None else clean(request.detail, "detail"),
        tags=tuple(dict.fromkeys(clean(tag, "tags") for tag in request.tags)),
        importance=request.importance,
        source=source,
        observed_at=request.observed_at,
        valid_from=request.valid_from,
        valid_to=request.valid_to,
        supersedes=request.supersedes,
        session=request.source.session if request.source else None,
    )


def from_turns(request: ConversationRequest, namespace: str, *, first: int) -> Iterator[Draft]:
    """The turns as drafts, numbered from `first`; the store indexes each with the one before it.

    Raises PayloadTooLarge, for the turn that is too large.
    """
    for number, turn in enumerate(request.turns, first):
        yield Draft(
            namespace=namespace,
            content=clean(turn.text, "text"),
            kind=CONVERSATION,
            source={"session": request.session, **_origin(turn)},
            observed_at=turn.at,
            session=request.session,
            turn=number,
            actor=turn.speaker,
            role=turn.role,
        )


def _origin(turn: Turn) -> dict[str, object]:
    named = {"turn_id": turn.id, "reply_to": turn.reply_to}
    return {name: value for name, value in named.items() if value is not None}
