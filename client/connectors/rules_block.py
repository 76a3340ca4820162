"""The rules of a checkout as a block in CLAUDE.md, AGENTS.md or GEMINI.md, where a person asked."""

from __future__ import annotations

from .markers import Markers

MARKERS = Markers(
    "<!-- recalld:begin (changed by `recalld connect`, removed by `recalld disconnect`) -->",
    "<!-- recalld:end -->",
)


def merged(text: str, body: str) -> str:
    """The text with the rules in it; raises Misplaced."""
    # What was remembered must not be able to end the block, or to hide what follows it.
    return MARKERS.put(text, body.replace("\r", "").replace("<!--", "&lt;!--").strip("\n"))


def without(text: str) -> str:
    """The text without the block; raises Misplaced."""
    return MARKERS.take(text)
