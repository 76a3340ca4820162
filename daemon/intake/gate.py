"""The one way in for everything captured automatically.

Our own blocks go (or we would learn what we said), then what the user marked private, then
secrets; what is left is made storable and cut to size. Explicit writes do not pass here: what a
user says to keep is kept as it is said, and only flagged.
"""

from __future__ import annotations

from typing import NamedTuple

from ...auth.redaction import redact, strip_private
from ..http.learning_requests import EventRequest
from ..injection.block import strip
from .event import Event

MOST_TEXT = 16_000
"""Characters kept of a prompt or a message: hooks send no more, other clients might."""
MOST_FIELD = 8_000
"""Characters kept of a tool's input, response or error."""
MOST_NAME = 1_000
_AHEAD = 4
"""Times the limit that is searched for secrets: what lies beyond is never kept, and costs nothing.
"""
_LONGEST_WORD = 1_024
"""Characters before that end in which a secret may be cut through."""


class Admitted(NamedTuple):
    """A clean text, and the kinds of secrets that were taken out of it."""

    text: str
    secrets: tuple[str, ...]


def admit(text: str, most: int = MOST_TEXT) -> Admitted:
    """The text as it may be kept. Cut last: half a secret would not be recognised as one."""
    # The whole is searched for our blocks and private parts: a cut would lay open their insides.
    clean, secrets = redact(_beginning(strip_private(strip(text)), _AHEAD * most))
    storable = clean.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return Admitted(storable[:most].strip(), tuple(secrets))


def _beginning(text: str, most: int) -> str:
    """The beginning of the text, without the word that the cut goes through."""
    if len(text) <= most:
        return text
    edge = most - min(most, _LONGEST_WORD)
    last = text[edge:most].rsplit(maxsplit=1)
    return text[:edge] + (last[0] if len(last) > 1 else "")


def event(request: EventRequest) -> Event:
    """The event as the daemon works with it."""
    return Event(
        id=request.id,
        host=request.host,
        kind=request.kind,
        session=request.session,
        at=request.at,
        cwd=_name(request.cwd),
        source=_name(request.source),
        text=_clean(request.text, MOST_TEXT),
        tool=_name(request.tool),
        input=_clean(request.input, MOST_FIELD),
        response=_clean(request.response, MOST_FIELD),
        error=_clean(request.error, MOST_FIELD),
        agent=_name(request.agent),
        reason=_name(request.reason),
    )


def _clean(text: str | None, most: int) -> str:
    return admit(text, most).text if text else ""


def _name(text: str | None) -> str:
    return _clean(text, MOST_NAME)
