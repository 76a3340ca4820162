"""The environment of the process: what it was started with is the caller's, not the daemon's."""

from __future__ import annotations

from collections.abc import MutableMapping

KEPT = frozenset({"HOME", "USER", "LOGNAME", "PATH", "LANG", "TZ", "TMPDIR"})
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def scrub(environ: MutableMapping[str, str]) -> None:
    """Keep what names places and language; drop API keys, proxies, PYTHON* and everything else.

    Settings must have been read. One thread for linear algebra: its products are small, and four
    workers with a pool of threads each would fight over the cores.
    """
    for name in list(environ):
        localised = name.startswith("LC_") or (name.startswith("XDG_") and name.endswith("_HOME"))
        if name not in KEPT and not localised:
            del environ[name]
    for name in BLAS_THREADS:
        environ[name] = "1"
