"""The host's JSON on stdin: read whatever it looks like, and never crash on it."""

from __future__ import annotations

import os
import time

from ..connection.documents import Document, document, parse, text


def payload(raw: bytes) -> Document:
    """The JSON object in these bytes; empty when there is none.

    Bytes that are not UTF-8 cost their characters, not the event.
    """
    found = parse(raw)
    if found is None and raw:
        found = parse(raw.decode("utf-8", "replace").encode())
    return document(found)


def first(doc: Document, *keys: str) -> str:
    """The first of these string fields that says something, else an empty string."""
    return next((value for key in keys if (value := text(doc, key))), "")


def session(doc: Document, host: str, *keys: str) -> str:
    """The session's id as the host tells it.

    For a host that tells none: the day and the terminal session the hook runs in, which all hooks
    of one agent share and two agents in two terminals do not.
    """
    return first(doc, *keys) or f"{host}-{time.strftime('%Y%m%d')}-{os.getsid(0)}"
