"""Taking in the events that hooks could not deliver, from files in `<data>/spool`.

In the order of their names, in the namespace their checkout has by its place, and each once: the
ids are claimed with the effects, and a file goes only after the commit. A file that makes no sense
is set aside (`.refused`) instead of being tried for ever.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Final, NamedTuple, cast

from ...auth.checkout import locate
from ...auth.errors import RecalldError
from ...auth.grants import Grants
from ...auth.namespaces import USER
from ...auth.paths import Layout, read_private
from ...storage.engine import Store
from ...storage.faults import Busy, Closed, Damaged, FullDisk
from ...storage.scope import Scope
from ...storage.transaction import Transaction
from ..caller import Caller
from ..http.bodies import decode, validate
from ..http.learning_requests import EventRequest
from ..moments import dispatch
from . import gate
from .event import Event

SCHEMA: Final = 1
MOST_AT_ONCE: Final = 100
"""Files of one round; a round is a supervisor's tick, and what is left waits for the next."""
MOST_BYTES: Final = 262_144
"""Bytes of a file: an event has 32 kB, and ASCII escapes can make several times that of it."""
PATIENCE_S: Final = 30.0
_LATER: Final = (FullDisk, Busy, Closed, Damaged)

log = logging.getLogger("recalld.spool")


class Waiting(NamedTuple):
    """A file on its way into the store."""

    path: str
    future: Future[None]


class Spool:
    """The folder, read by one thread at a time."""

    def __init__(self, layout: Layout, store: Store, grants: Grants) -> None:
        self._folder = os.path.join(layout.data, "spool")
        self._store = store
        self._grants = grants

    def take_in(self) -> int:
        """Take in what waits, up to MOST_AT_ONCE files; returns how many are done with."""
        waiting: list[Waiting] = []
        for path in self._paths():
            try:
                caller, events = self._read(path)
            except (RecalldError, OSError, ValueError, TypeError) as error:
                self._refuse(path, error)
                continue
            waiting.append(Waiting(path, self._submit(caller, events)))
        return sum(self._settle(one) for one in waiting)

    def _paths(self) -> list[str]:
        try:
            names = sorted(name for name in os.listdir(self._folder) if name.endswith(".json"))
        except FileNotFoundError:
            return []
        return [os.path.join(self._folder, name) for name in names[:MOST_AT_ONCE]]

    def _read(self, path: str) -> tuple[Caller, list[Event]]:
        """What the file holds. Raises RecalldError, OSError, ValueError or TypeError."""
        raw = read_private(path, MOST_BYTES)
        if raw is None:
            raise FileNotFoundError(path)
        # Twice: a folder's name may hold bytes that are no UTF-8 (lone surrogates here), and in
        # events just those are mended.
        checkout = cast("dict[str, object]", json.loads(raw))["checkout"]
        members = cast("dict[str, object]", decode(raw))
        if members.get("schema") != SCHEMA or not isinstance(checkout, str):
            raise ValueError("not of schema 1")
        listed = cast("Sequence[object]", members["events"])
        events = [gate.event(validate(EventRequest, one)) for one in listed]
        return self._caller(checkout), events

    def _caller(self, checkout: str) -> Caller:
        """On whose behalf: the checkout's newest grant, or the spool itself before the first."""
        found = locate(checkout)
        mine = [one.id for one in self._grants.list() if one.checkout == found.root]
        scope = Scope([found.namespace, USER])
        return Caller(found.namespace, scope, mine[-1] if mine else "spool")

    def _submit(self, caller: Caller, events: Sequence[Event]) -> Future[None]:
        def job(tx: Transaction) -> None:
            if events:
                dispatch.take(tx, caller, events)

        return self._store.writer.submit(job, background=True)

    def _settle(self, one: Waiting) -> bool:
        """Remove the file when its events are on disk."""
        try:
            one.future.result(PATIENCE_S)
        except (*_LATER, TimeoutError) as fault:
            log.warning("events wait on", extra={"code": type(fault).__name__})
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
