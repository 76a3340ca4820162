"""Whether a tool's response says that it failed, for hosts that report both in one event.

Only what the tool itself states counts: an error field, a flag, an exit status. Text that merely
mentions errors ("0 errors found") is a success.
"""

from __future__ import annotations

import json
import re

from ..documents import Document, document, flag, items, text

_STATUS = re.compile(
    r"(?im)^\W{0,3}(?:process )?(?:exit(?:ed)?[ _](?:with )?(?:code|status)):?\s+(-?\d+)"
)
_EDGE = 300
"""Characters at both ends of an output where hosts write the exit status; in between is the tool's
own output, which may quote anybody's."""

_CODES = ("exit_code", "exitCode", "exit_status", "exitStatus", "returncode")
_NESTED = ("llmContent", "result", "output", "metadata", "structuredContent")
_TOLD = ("stderr", "error", "message", "output", "stdout", "result", "llmContent", "content")
_DEEPEST = 3


def failure(response: object, depth: int = 0) -> str | None:
    """What went wrong, or None for a success."""
    if isinstance(response, str):
        return response if _says_nonzero(response) else None
    if depth == _DEEPEST:
        return None
    listed = items(response)[:8]
    if listed:
        return next((found for item in listed if (found := failure(item, depth + 1))), None)
    doc = document(response)
    if not doc:
        return None
    stated = _stated(doc)
    if stated:
        return stated
    if _flagged(doc):
        return _told(doc)
    return next((found for key in _NESTED if (found := failure(doc.get(key), depth + 1))), None)


def _says_nonzero(output: str) -> bool:
    edges = (output[:_EDGE], output[-_EDGE:]) if len(output) > 2 * _EDGE else (output,)
    codes = [match[1] for edge in edges for match in _STATUS.finditer(edge)]
    return any(code.lstrip("-").strip("0") for code in codes)


def _stated(doc: Document) -> str:
    """The error field, which some hosts send as an object and some as null for a success."""
    return text(doc, "error").strip() or text(document(doc.get("error")), "message").strip()


def _flagged(doc: Document) -> bool:
    if flag(doc, "isError") or flag(doc, "is_error") or doc.get("success") is False:
        return True
    return any(str(doc.get(key, 0)).lstrip("-").strip("0").isdigit() for key in _CODES)


def _told(doc: Document) -> str:
    found = next((value for key in _TOLD if (value := text(doc, key).strip())), "")
    return found or json.dumps(doc)
