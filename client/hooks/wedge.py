"""Remembering for a moment that the daemon does not answer, so that not every tool call waits.

A stopped or wedged daemon accepts connections and says nothing; finding that out costs the whole
patience of a hook. The first hook that did leaves the signature of the discovery record behind, and
for a few seconds the others spool at once, unless the record has changed since.
"""

from __future__ import annotations

import contextlib
import os
import time

from ...auth.errors import RecalldError
from ...auth.paths import Layout, ensure_private_dir, read_plain, write_private
from ..connection.discovery import signature

LASTS = 5.0
"""Seconds for which it is believed."""


def _path(layout: Layout) -> str:
    return os.path.join(layout.run, "hooks.silent")


def _mark(layout: Layout) -> bytes | None:
    found = signature(layout)
    return None if found is None else f"{found[0]} {found[1]}".encode()


def remember(layout: Layout) -> None:
    """The daemon of the published record did not answer."""
    mark = _mark(layout)
    if mark is None:
        return
    with contextlib.suppress(OSError, RecalldError):
        ensure_private_dir(layout.run)
        write_private(_path(layout), mark)


def known(layout: Layout) -> bool:
    """Whether that daemon was found silent a moment ago."""
    try:
        found = os.stat(_path(layout), follow_symlinks=False)
    except OSError:
        return False
    if not 0 <= time.time() - found.st_mtime < LASTS:
        return False
    mark = _mark(layout)
    return mark is not None and read_plain(_path(layout)) == mark
