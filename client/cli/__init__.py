"""The `recalld` command: agents wait for hooks, which take the shortest way; all else is a verb."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .streams import as_utf8, open_streams


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the exit code is 0 or that of the error's class."""
    open_streams()
    arguments = [as_utf8(word) for word in (sys.argv[1:] if argv is None else argv)]
    if arguments[:1] == ["hook"] and not {"-h", "--help"} & set(arguments):
        import gc

        gc.disable()  # a tenth of the process would go into looking through half-loaded modules
        from ..hooks import run as hook  # no parser, and it ends the process itself

        hook.main(arguments[1:])
    from .command import run

    return run(arguments)
