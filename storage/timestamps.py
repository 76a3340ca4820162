"""Times as the store keeps them: UTC, RFC 3339, milliseconds, so that text order is time order."""

from __future__ import annotations

import time


def from_unix_ms(unix_ms: int) -> str:
    """`2026-11-29T21:00:00.000Z` for a time in milliseconds since 1970."""
    seconds, ms = divmod(unix_ms, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{ms:03d}Z"
