"""What a memory said at an earlier time."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime

import apsw

from ...storage.history import at_time
from ...storage.memories import Memory
from ...storage.scope import Scope

_RESTORED = ("content", "detail", "kind", "importance")


def as_it_was(connection: apsw.Connection, scope: Scope, memory: Memory, at_ms: int) -> Memory:
    """The memory with the text it had at `at_ms`; unchanged if it was not edited since."""
    moment = datetime.fromtimestamp(at_ms / 1000, tz=UTC).isoformat(timespec="milliseconds")
    moment = moment.replace("+00:00", "Z")
    if memory.version == 1 or memory.updated_at <= moment:
        return memory
    past = at_time(connection, scope, memory.ulid, moment)
    if past is None or past.op == "forget":
        return memory
    then = past.memory
    known = {field.name for field in fields(Memory)}
    changes = {name: then[name] for name in _RESTORED if name in then and name in known}
    return replace(memory, **changes)  # type: ignore[arg-type]  # history keeps the column types
