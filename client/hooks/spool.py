"""Events that could not be delivered wait as files until the daemon takes them in.

    <data>/spool/<ulid>.json   0600 in a 0700 folder: {"schema": 1, "checkout", "events": […]},
                               with "token_sha256" when a token was given by hand
    <data>/spool/dropped       one byte for every event there was no room for

The daemon reads them in the order of their names, stores on behalf of that token or the checkout's
grant, and removes a file only after the commit; the events' ids make that exactly once.
"""

from __future__ import annotations

import json
import os

from ...auth import tokens
from ...auth.paths import Layout, ensure_private_dir, write_private
from ..connection.documents import Document, text
from .packing import scrubbed

MOST_FILES = 2_000
"""Files kept; when a daemon stays away for long, the oldest events are the ones that stay."""

SCHEMA = 1


def folder(layout: Layout) -> str:
    """Where the files are."""
    return os.path.join(layout.data, "spool")


def put(layout: Layout, checkout: str, event: Document, token: str = "") -> bool:
    """Keep a packed event for later; False when the spool is full, which is counted.

    `checkout` is the real root whose namespace it belongs to, unless a `token` was given by hand:
    then its grant decides, of which only the digest is kept. What is written holds no secret and
    no private part. Raises StorageTrouble or UnsafePermissions.
    """
    place = folder(layout)
    ensure_private_dir(layout.data)
    ensure_private_dir(place)
    if _count(place) >= MOST_FILES:
        _count_dropped(place)
        return False
    kept: Document = {"schema": SCHEMA, "checkout": checkout, "events": [scrubbed(event)]}
    if token:
        kept["token_sha256"] = tokens.digest(token.strip())
    # ASCII: a folder's name may hold bytes that are not UTF-8.
    write_private(os.path.join(place, f"{text(event, 'id')}.json"), json.dumps(kept).encode())
    return True


def _count(place: str) -> int:
    return sum(name.endswith(".json") for name in os.listdir(place))


def _count_dropped(place: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(os.path.join(place, "dropped"), flags, 0o600)
    try:
        os.write(fd, b".")
    finally:
        os.close(fd)
