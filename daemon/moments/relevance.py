"""Whether a memory has anything to do with what was just asked; most prompts need none.

Recall always has a best hit, so its scores say nothing about this. The cosine between question and
memory does: on 30 invented prompts about one of 30 memories and 30 about nothing in particular,
0.40 shows 20 of the 30 wanted memories and something unwanted at 1 of the 30 idle prompts; 0.30
shows 24 and disturbs 4, 0.50 shows 14 and disturbs none (tests/loop/test_relevance.py). Where the
question was read closely the cosine of that counts too: 0.42 alone shows 21 and disturbs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ...storage.stemming import stems
from ..intake.sentences import sentences
from ..recall.query import analyse
from ..recall.request import Hit

if TYPE_CHECKING:
    from ..recall.pipeline import Recall  # numpy: 165 ms the first answer need not wait for

LEAST_CLOSENESS: Final = 0.40
LEAST_READ_CLOSENESS: Final = 0.42
LEAST_SHARED: Final = 0.5
"""Without vectors: the share of the question's words the memory must hold, two of them at least."""
MOST_PARTS: Final = 6
"""Sentences of a long prompt that are compared by themselves; the mean of many means nothing."""
_LONG: Final = 160
LONGEST: Final = 2_000
"""Characters of a prompt that are looked at; what follows is mostly pasted."""


def relevant(pipeline: Recall, question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Those of the hits that are about what the question, or one sentence of it, is about."""
    texts = [hit.memory.content for hit in hits]
    near = [
        max(closeness) for closeness in zip(*_all_closeness(pipeline, question, texts), strict=True)
    ]
    if any(near):
        pairs = zip(hits, near, strict=True)
        return [
            hit
            for hit, closeness in pairs
            if closeness >= LEAST_CLOSENESS or (hit.closeness or 0.0) >= LEAST_READ_CLOSENESS
        ]
    return [hit for hit in hits if _shares_words(question, hit.memory.content)]


def _all_closeness(pipeline: Recall, question: str, texts: Sequence[str]) -> list[list[float]]:
    parts = [question]
    if len(question) > _LONG:
        parts += [part for part in sentences(question) if any(map(str.isalnum, part))][:MOST_PARTS]
    return [pipeline.closeness(part, texts) for part in parts]


def _shares_words(question: str, content: str) -> bool:
    asked, held = _stems(question), _stems(content)
    shared = asked & held
    return len(shared) >= 2 and len(shared) / len(asked) >= LEAST_SHARED


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem for word in analyse(text, 0).words for stem in stems(word))
