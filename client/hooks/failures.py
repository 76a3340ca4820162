"""Whether a tool's response says that it failed, for hosts that report both in one event.

Only what the tool itself states counts: an error field, a flag, an exit status. A stated success
ends the search: output may quote anybody's failures. Text that merely mentions errors ("0 errors
found") is a success.
"""

from __future__ import annotations

import json
import re

from ..connection.documents import Document, document, flag, items, text

_STATUS = re.compile(
    r"(?im)^\W{0,3}(?:process )?(?:exit(?:ed)?[ _](?:with )?(?:code|status)):?\s+(-?\d+)"
)
_EDGE = 300
"""Characters at both ends of an output where hosts write the exit status; in between is the tool's
own output, which may quote anybody's."""
_OUTPUT = re.compile(r"(?im)^(?:output|stdout):")

_CODES = ("exit_code", "exitCode", "exit_status", "exitStatus", "returncode")
_NESTED = ("llmContent", "result", "output", "metadata", "structuredContent")
_TOLD = (
    "stderr",
    "error",
    "message",
    "output",
    "stdout",
    "result",
    "llmContent",
    "content",
    "text",
)
_HOLDERS = (*_NESTED, "content")
_DEEPEST = 3


def failure(response: object) -> str | None:
    """What went wrong, or None for a success."""
    return _found(response, 0, texts=_verdict(response, 0) is not False)


def _verdict(response: object, depth: int) -> bool | None:
    """What is stated in fields: True for a failure, False for a success, None for neither."""
    doc = document(response)
    listed = items(response)[:8] if not doc else [doc.get(key) for key in _NESTED]
    stated = [_of_fields(doc)] if doc else []
    if depth < _DEEPEST:
        stated += [_verdict(one, depth + 1) for one in listed]
    told = [one for one in stated if one is not None]
    return any(told) if told else None


def _of_fields(doc: Document) -> bool | None:
    if _stated(doc) or _flagged(doc):
        return True
    zero = any(str(doc[key]) == "0" for key in _CODES if key in doc)
    return False if zero or doc.get("success") is True else None


def _found(response: object, depth: int, *, texts: bool) -> str | None:
    if isinstance(response, str):
        return response if texts and _says_nonzero(response) else None
    if depth == _DEEPEST:
        return None
    doc = document(response)
    if _stated(doc):
        return _stated(doc)
    if _flagged(doc):
        return _told(doc)
    inner = [doc.get(key) for key in _NESTED] if doc else items(response)[:8]
    told = (_found(one, depth + 1, texts=texts) for one in inner)
    return next((found for found in told if found), None)


def _says_nonzero(output: str) -> bool:
    """Whether the status that the host wrote is one: before the output, else behind it."""
    start = output.lstrip()[:_EDGE]
    label = _OUTPUT.search(start)
    header = start[: label.start()] if label else start.split("\n", 1)[0]
    codes = _STATUS.findall(header)[:1] or _STATUS.findall(output[-_EDGE:])[-1:]
    return any(code.lstrip("-").strip("0") for code in codes)


def _stated(doc: Document) -> str:
    """The error field, which some hosts send as an object and some as null for a success."""
    return text(doc, "error").strip() or text(document(doc.get("error")), "message").strip()


def _flagged(doc: Document) -> bool:
    if flag(doc, "isError") or flag(doc, "is_error") or doc.get("success") is False:
        return True
    return any(str(doc.get(key, 0)).lstrip("-").strip("0").isdigit() for key in _CODES)


def _told(doc: Document) -> str:
    return _text(doc, 0) or json.dumps(doc)


def _text(value: object, depth: int) -> str:
    """The first text in which a tool tells how it went, its own fields before nested ones."""
    if isinstance(value, str):
        return value if value.strip() else ""
    if depth > _DEEPEST:
        return ""
    doc = document(value)
    own = next((found for key in _TOLD if (found := text(doc, key)).strip()), "")
    inner = [doc.get(key) for key in _HOLDERS] if doc else items(value)[:8]
    return own or next((found for one in inner if (found := _text(one, depth + 1))), "")
