"""What text may look like in the store: Unicode that SQLite and every terminal survive."""

from __future__ import annotations

from ...auth.errors import PayloadTooLarge

MAX_BYTES = 65_536
"""UTF-8 bytes of one text: beyond it an analyser pass would hold up the writer for everyone."""


def clean(text: str, field: str = "content") -> str:
    """The text as it is stored: word for word, but NUL becomes U+FFFD.

    SQLite's text functions stop at a NUL. Everything else is kept, bidi marks and control
    characters too: what reaches a terminal is the client's business. (Lone surrogates were mended
    on the way in.)

    Raises:
        PayloadTooLarge: more than 64 KiB.
    """
    if len(text) * 4 > MAX_BYTES and len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise PayloadTooLarge(
            f"Field {field!r} is larger than {MAX_BYTES} bytes.",
            hint="Store the essence, or send a transcript turn by turn to /v1/conversations.",
        )
    return text.replace("\0", "�")
