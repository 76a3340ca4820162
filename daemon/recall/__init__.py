"""Recall: from a question to the few memories that answer it, in milliseconds.

A namespace in use is kept in memory as a *shelf* (terms, vectors and columns as numpy arrays, kept
right by the writer's change feed) and searched there; one that is not, or is too big, is answered
by SQLite's full-text and vector indexes. Both ways end in one table of candidates, one weighted
sum, and a second look at the first hundred.

Only `request` and `query` are free of numpy: the daemon answers before it is loaded.
"""

from __future__ import annotations

import os

# See recalld.daemon.embed: it must be set before the first import of numpy, whoever comes first.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
