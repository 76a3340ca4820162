"""What the process keeps checking about itself, every few seconds."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

from ...auth import record
from ...auth.errors import RecalldError
from ...storage import idempotency
from ...storage.faults import Damaged
from ...storage.timestamps import from_unix_ms
from ..intake.spool import Spool
from ..lessons import upkeep
from ..services import Services
from .lock import OwnerLock
from .memory import give_back
from .notify import Notifier

KEYS_KEPT_S = 86_400.0
"""Idempotency keys live this long: a client that retries a day later starts anew."""
EXPIRY_S = 3600.0
BURST = 500
"""Requests and connections since memory was last given back that make it worth doing again."""

log = logging.getLogger("recalld.supervisor")


class Supervisor:
    """Ends the daemon when it is no longer the owner or no longer used; keeps it tidy meanwhile."""

    def __init__(self, services: Services, lock: OwnerLock, notifier: Notifier) -> None:
        self._services = services
        self._lock = lock
        self._notifier = notifier
        self._last_look = time.time()
        self._last_expiry = 0.0
        self._tidied_at = 0
        self._after_burst = False
        self._spool = Spool(services.layout, services.store, services.grants)

    async def watch(self) -> None:
        """Look after everything until draining begins."""
        period = self._services.settings.supervise_s
        if self._notifier.watchdog_s is not None:
            period = min(period, self._notifier.watchdog_s)
        while not self._services.lifecycle.draining:
            await self._take_in()
            await asyncio.sleep(period)
            self._notifier.alive()
            try:
                await self._look()
                self._expire()
                await self._tidy()
            except Exception:
                log.exception("looking after the daemon failed")

    async def _take_in(self) -> None:
        """Events that hooks could not deliver; at the start and at every look."""
        try:
            await asyncio.to_thread(self._spool.take_in)
        except Exception:
            log.exception("the spool could not be taken in")

    async def _look(self) -> None:
        services = self._services
        if not self._lock.still_ours():
            services.lifecycle.drain("the lock file was replaced or the data folder removed")
        elif (damage := await asyncio.to_thread(self._damage)) is not None:
            # The store refuses writes from here on; a successor says the same or starts well.
            services.lifecycle.drain(str(damage))
        elif self._is_idle():
            services.lifecycle.drain("idle")
        elif not services.lifecycle.draining:  # it may have begun while the file was looked at
            self._republish()
            services.stale_code = services.identity.is_stale()

    def _damage(self) -> Damaged | None:
        """What is wrong with memory.db on disk; reading it may take its time."""
        try:
            self._services.store.check()
        except Damaged as damage:
            return damage
        return None

    def _republish(self) -> None:
        """Publish again if somebody deleted or overwrote the record: we hold the lock, not they."""
        services = self._services
        with contextlib.suppress(RecalldError, OSError):
            try:
                found = record.read(services.layout)
            except record.StaleRecord:
                found = None
            if found is None or found.instance != services.identity.instance:
                log.warning("the discovery record was gone; published again")
                record.publish(services.layout, services.identity.record())

    def _is_idle(self) -> bool:
        """Whether nobody has used a spawned daemon for long enough.

        After the machine slept, or a clock jumped, the time since the last look is a gap, not
        idleness: whoever wakes the machine gets the whole period again (D-32).
        """
        services = self._services
        now, limit = time.time(), services.settings.idle_exit_s
        gap = abs(now - self._last_look) > 4 * services.settings.supervise_s + 5
        self._last_look = now
        if services.identity.managed_by != "spawn" or not limit:
            return False
        lifecycle = services.lifecycle
        if gap or lifecycle.in_flight or services.feed.streams:
            lifecycle.last_activity = time.monotonic()
        return time.monotonic() - lifecycle.last_activity >= limit

    async def _tidy(self) -> None:
        """Give memory back, when nothing else is going on."""
        lifecycle = self._services.lifecycle
        if lifecycle.in_flight or lifecycle.draining:
            return
        # Most of a flood is refused unparsed: that serves nobody, but its connections took memory.
        used = lifecycle.served + self._services.connections.admitted
        since = used - self._tidied_at
        # A look may fall into a gap of a flood: what is left of it then waits for the next look.
        if since >= BURST or (self._after_burst and since):
            self._tidied_at, self._after_burst = used, since >= BURST
            await asyncio.to_thread(give_back)

    def _expire(self) -> None:
        """Queue what is due by the clock. Its turn is the writer's business: a daemon that is
        never idle must not keep everything for ever.
        """
        due = time.monotonic() - self._last_expiry >= EXPIRY_S
        if due and not self._services.lifecycle.draining:
            self._last_expiry = time.monotonic()
            before = from_unix_ms(int((time.time() - KEYS_KEPT_S) * 1000))
            writer = self._services.store.writer
            writer.submit(lambda tx: idempotency.expire(tx, before), background=True)
            unused = self._services.settings.auto_demote
            writer.submit(lambda tx: upkeep.tidy(tx, demote_unused=unused), background=True)
