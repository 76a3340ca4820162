"""Taking in the events that hooks could not deliver, from files in `<data>/spool`.

In the order of their names, on behalf of those the hooks would have spoken for, and each once: the
ids are claimed with the effects, and a file goes only after the commit. A file that makes no sense
or has no grant any more is set aside (`.refused`) instead of being tried for ever; trouble that may
pass is waited out.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Final, NamedTuple, cast

from ...auth.errors import (
    AccessDenied,
    InvalidRequest,
    NotFound,
    RecalldError,
    Unauthenticated,
    UnsafePermissions,
)
from ...auth.grants import Grants
from ...auth.paths import Layout, read_private
from ...storage.engine import Store
from ...storage.faults import Invalid, StorageFault
from ...storage.transaction import Transaction
from ..caller import Caller
from ..http.bodies import decode, validate
from ..http.learning_requests import EventRequest
from ..moments import dispatch
from . import gate
from .event import Event
from .origin import Origin, caller

SCHEMA: Final = 1
MOST_AT_ONCE: Final = 100
"""Files of one round; a round is a supervisor's tick, and what is left waits for the next."""
MOST_BYTES: Final = 262_144
"""Bytes of a file: an event has 32 kB, and ASCII escapes can make several times that of it."""
PATIENCE_S: Final = 30.0
HOMELESS_S: Final = 60.0
"""Between two looks for a checkout that is not there: a drive may be mounted again."""
MOST_DAYS: Final = 14
"""A checkout that is gone for so long stays gone; ids of events are known for longer than that."""
_NONSENSE: Final = (
    InvalidRequest,
    UnsafePermissions,
    ValueError,
    TypeError,
    LookupError,
    RecursionError,
)
"""What reading a file comes to when the file itself is to blame."""
_TROUBLE: Final = (RecalldError, StorageFault, OSError, MemoryError)
"""What may be otherwise at the next look: a full or failing disk, damage somebody repairs."""

log = logging.getLogger("recalld.spool")


class Waiting(NamedTuple):
    """A file on its way into the store."""

    path: str
    future: Future[None]


class Spool:
    """The folder, read by one thread at a time."""

    def __init__(self, layout: Layout, store: Store, grants: Grants) -> None:
        self._data = layout.data
        self._folder = os.path.join(layout.data, "spool")
        self._store = store
        self._grants = grants
        self._homeless: dict[str, float] = {}
        """Files whose checkout is not there, and when (monotonic) to look again."""

    def take_in(self) -> int:
        """Take in what waits, up to MOST_AT_ONCE files; returns how many are done with."""
        waiting: list[Waiting] = []
        for path in self._paths():
            one = self._begin(path)
            if one is not None:
                waiting.append(one)
            if len(waiting) == MOST_AT_ONCE:
                break
        return sum(self._settle(one) for one in waiting)

    def _paths(self) -> list[str]:
        """Every file in order, without those whose checkout was looked for a moment ago."""
        try:
            names = sorted(name for name in os.listdir(self._folder) if name.endswith(".json"))
        except FileNotFoundError:
            return []
        now = time.monotonic()
        self._homeless = {path: at for path, at in self._homeless.items() if at > now}
        paths = [os.path.join(self._folder, name) for name in names]
        return [path for path in paths if path not in self._homeless]

    def _begin(self, path: str) -> Waiting | None:
        """Send a file on its way; None when it was set aside or has to wait."""
        try:
            origin, events = self._read(path)
        except _NONSENSE as error:
            self._refuse(path, error)
            return None
        except _TROUBLE as error:
            self._wait(error)
            return None
        try:
            found = caller(origin, self._grants, self._data)
            if found is not None:
                return Waiting(path, self._submit(found, events))
            self._put_off(path)
        except (Unauthenticated, AccessDenied) as error:
            self._refuse(path, error)
        except _TROUBLE as error:
            self._wait(error)
        return None

    def _read(self, path: str) -> tuple[Origin, list[Event]]:
        """What the file holds: where it comes from, and events. Raises _NONSENSE or _TROUBLE."""
        if os.lstat(path).st_size > MOST_BYTES:
            raise ValueError("too long")
        raw = read_private(path, MOST_BYTES)
        if raw is None:
            raise FileNotFoundError(path)
        # Twice: a folder's name may hold bytes that are no UTF-8 (lone surrogates here), and in
        # events just those are mended.
        checkout = cast("dict[str, object]", json.loads(raw))["checkout"]
        members = cast("dict[str, object]", decode(raw))
        digest = members.get("token_sha256")
        named = isinstance(checkout, str) and isinstance(digest, str | None)
        if members.get("schema") != SCHEMA or not named:
            raise ValueError("not of schema 1")
        listed = cast("Sequence[object]", members["events"])
        origin = Origin(cast("str", checkout), cast("str | None", digest))
        return origin, [gate.event(validate(EventRequest, one)) for one in listed]

    def _put_off(self, path: str) -> None:
        """Look again in a while for the checkout of this file, up to MOST_DAYS."""
        if time.time() - os.lstat(path).st_mtime > MOST_DAYS * 86_400:
            self._refuse(path, NotFound("The checkout is gone."))
        else:
            self._homeless[path] = time.monotonic() + HOMELESS_S

    def _wait(self, error: BaseException) -> None:
        log.warning("events wait on", extra={"code": type(error).__name__})

    def _submit(self, caller: Caller, events: Sequence[Event]) -> Future[None]:
        def job(tx: Transaction) -> None:
            if events:
                dispatch.take(tx, caller, events)

        return self._store.writer.submit(job, background=True)

    def _settle(self, one: Waiting) -> bool:
        """Remove the file when its events are on disk."""
        try:
            one.future.result(PATIENCE_S)
        except Invalid as error:
            self._refuse(one.path, error)
            return False
        except (*_TROUBLE, TimeoutError) as error:
            self._wait(error)
            return False
        except Exception as error:  # a mistake of ours must not be repeated every few seconds
            log.exception("events could not be taken in")
            self._refuse(one.path, error)
            return False
        with suppress(FileNotFoundError):
            os.unlink(one.path)
        return True

    def _refuse(self, path: str, error: Exception) -> None:
        """Set the file aside; nothing of it is quoted in the log."""
        log.warning("a spool file was set aside", extra={"code": type(error).__name__})
        with suppress(OSError):
            os.replace(path, path.removesuffix(".json") + ".refused")
