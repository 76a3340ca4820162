"""What the process keeps checking about itself, every few seconds."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time

from ..auth import record
from ..auth.errors import RecalldError
from .lock import OwnerLock
from .notify import Notifier
from .services import Services

IDEMPOTENCY_S = 86_400
"""How long an idempotency key is remembered: a client that retries a day later starts anew."""

log = logging.getLogger("recalld.supervisor")


class Supervisor:
    """Ends the daemon when it is no longer the owner or no longer used; mends its record."""

    def __init__(self, services: Services, lock: OwnerLock, notifier: Notifier) -> None:
        self._services = services
        self._lock = lock
        self._notifier = notifier
        self._last_look = time.time()

    async def watch(self) -> None:
        """Look after everything until draining begins."""
        period = self._services.settings.supervise_s
        if self._notifier.watchdog_s is not None:
            period = min(period, self._notifier.watchdog_s)
        while not self._services.lifecycle.draining:
            await asyncio.sleep(period)
            self._notifier.alive()
            self._look()

    def _look(self) -> None:
        services = self._services
        if not self._lock.still_ours():
            services.lifecycle.drain("the lock file was replaced or the data folder removed")
            return
        if not os.path.isfile(services.layout.db):
            services.lifecycle.drain("memory.db was removed")
            return
        self._republish()
        services.stale_code = services.identity.is_stale()
        if self._is_idle():
            services.lifecycle.drain("idle")

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
