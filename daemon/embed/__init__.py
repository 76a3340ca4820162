"""Text to vectors: the embedders, and the thread that gives every stored row its vector."""

from __future__ import annotations

import os

# Must be set before numpy is first imported, by whoever imports it: OpenBLAS would otherwise start
# a thread per core and spin in it, which costs other workers more than it gains at 256 dimensions.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
