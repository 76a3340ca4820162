"""The tool that says how the memory stands."""

from __future__ import annotations

from typing import cast

from ..http import state
from ..http.call import Call
from .arguments import Given
from .changing import said
from .packing import Row

_TOLD = ("version", "memories", "phase", "embedding", "last_error")
_COUNTED = ("namespace", "memories", "kinds", "last_at")


async def status(call: Call, _: Given) -> Row:
    """Version and health of the daemon, and what each readable namespace holds."""
    daemon = said(await state.status(call.within()))
    spaces = cast("list[Row]", said(await state.stats(call.within()))["namespaces"])
    return {
        **{name: daemon[name] for name in _TOLD if daemon.get(name) is not None},
        "namespaces": [{name: space[name] for name in _COUNTED} for space in spaces],
    }
