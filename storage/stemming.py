"""The stem under which the full-text index keeps a token, asked of SQLite's own tokenizer.

Recall keeps an index of its own in memory for namespaces in use. Asking the same tokenizer is what
makes a word found by one index found by the other.
"""

from __future__ import annotations

import threading

import apsw

# As in the schema's fts table.
UNDERLYING = ["unicode61", "categories", "L* N* Co M* So"]


class _PerThread(threading.local):
    """A tokenizer belongs to a connection, and a connection to one thread at a time."""

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.tokenizer = self.connection.fts5_tokenizer("porter", UNDERLYING)


_thread = _PerThread()


def stems(token: str) -> list[str]:
    """The stems of an index token: one, or several where the tokenizer splits once more."""
    found = _thread.tokenizer(
        token.encode("utf-8", "replace"),
        apsw.FTS5_TOKENIZE_AUX,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return [str(stem) for stem in found]
