"""A memory's text from stdin, where `-` was given instead of it."""

from __future__ import annotations

import sys

from ...auth.errors import InvalidRequest, PayloadTooLarge

_LIMIT = 1_048_576
"""Bytes read at most: the daemon takes 64 KiB, and `yes |` must not fill memory."""


def read() -> str:
    """All of stdin, without the line end that tools add.

    Raises:
        InvalidRequest: there is no stdin.
        PayloadTooLarge: it is longer than any memory.
    """
    try:
        raw = sys.stdin.buffer.read(_LIMIT + 1)
    except (AttributeError, OSError) as error:
        raise InvalidRequest(
            "There is no stdin to read.", hint="Give the text instead of -."
        ) from error
    if len(raw) > _LIMIT:
        raise PayloadTooLarge("stdin is longer than 1 MiB.", hint="Store it in parts.")
    # The line end that echo and editors add belongs to the tool, not to the memory.
    return raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
