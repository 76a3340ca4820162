"""What some hosts cannot tell or take, where a moment has to make up for it."""

from __future__ import annotations

from typing import Final

ENDLESS: Final = frozenset({"kiro"})
"""Tell neither a session's id nor its end: a start means an empty context, and any stop may have
been the last."""

TOLD_LATE: Final = frozenset({"cursor"})
"""Take nothing with a prompt or a failure: what was due then comes after the next success."""
