"""Text to vectors: the embedders, and the threads that give every stored row its vector.

`shipped` and `providers` hold the embedders, `background` the threads. `choice` says which embedder
the settings ask for, `standing` which vectors recall uses meanwhile; all know the `protocol`.
"""

from __future__ import annotations

import os

# Must be set before numpy is first imported, by whoever imports it: OpenBLAS would otherwise start
# a thread per core and spin in it, which costs other workers more than it gains at 256 dimensions.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
