"""What is said already in other spelling: counted on the memory that stands, and not kept twice."""

from __future__ import annotations

import unicodedata
from typing import Final

from ...storage import analyser, fulltext, memories, preference_keys
from ...storage.drafts import Draft
from ...storage.memories import CONVERSATION, Memory
from ...storage.scope import Scope
from ...storage.transaction import Transaction
from .choices import choice

KEYED: Final = frozenset({"preference", "correction"})
"""Kinds of memories that can make a choice."""

_OPENING: Final = "\"'`(\u201c\u2018\u00ab"
_CLOSING: Final = ".,;:!\"'`)\u201d\u2019\u00bb\u2026"
"""What says nothing before or behind a word. A question mark does, and so does every other sign
(`.env`, `v1.2`, `--no-verify`, `*.py`)."""
_FILLERS: Final = (
    "a also always an and codebase everywhere for from here i in it now on our please prefer "
    "project repo repository run the this to use uses using we"
)
_FILLING: Final = frozenset(_FILLERS.split())
"""Words that a choice can be said with or without; none of them denies anything."""
_MOST_WORDS: Final = 32
_LOOKED_AT: Final = 50


def folded(text: str) -> str:
    """The text without what near duplicates differ in: case, spacing, punctuation around words."""
    words = unicodedata.normalize("NFKC", text).casefold().split()
    bare = (word.lstrip(_OPENING).rstrip(_CLOSING) for word in words)
    return " ".join(word for word in bare if word)


def kept(tx: Transaction, draft: Draft) -> Memory | None:
    """The memory of the draft's namespace and kind that says the same; None when there is none.

    It is the same text after folding, or the standing choice of the same family and member, of
    which the draft says nothing more. A draft that names what it replaces or when it holds, or has
    a detail of its own, is always news.
    """
    named = (draft.supersedes, draft.valid_from, draft.valid_to)
    if draft.kind == CONVERSATION or any(named) or not draft.content.strip():
        return None
    found = _chosen(tx, draft) or _alike(tx, draft)
    return found if found is not None and draft.detail in (None, found.detail) else None


def _chosen(tx: Transaction, draft: Draft) -> Memory | None:
    made = choice(draft.content) if draft.kind in KEYED else None
    if made is None:
        return None
    scope = Scope([draft.namespace])
    standing = preference_keys.standing(tx.connection, scope, made.key)
    if standing is None or standing.value != made.value:
        return None
    memory = memories.find(tx.connection, scope, standing.ulid)
    if memory is None or not _holds(memory, tx.now):
        return None
    more = set(folded(draft.content).split()) - set(folded(memory.content).split()) - _FILLING
    return None if more else memory


def _alike(tx: Transaction, draft: Draft) -> Memory | None:
    """The row with the same folded text: all of its words occur, which few rows share."""
    words = list(dict.fromkeys(analyser.tokens(draft.content)))[:_MOST_WORDS]
    scope, wanted = Scope([draft.namespace]), folded(draft.content)
    rids = fulltext.holding(tx.connection, scope, words, limit=_LOOKED_AT)
    for memory in memories.fetch(tx.connection, scope, rids).values():
        same = bool(wanted) and folded(memory.content) == wanted
        if same and memory.kind == draft.kind and _holds(memory, tx.now):
            return memory
    return None


def _holds(memory: Memory, now: str) -> bool:
    """Whether the memory is active and holds now."""
    begun = (memory.valid_from or "") <= now
    return memory.status == "active" and begun and not (memory.valid_to and memory.valid_to <= now)
