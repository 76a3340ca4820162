"""One life of the daemon: from an owned data folder to a listening server, and back in order.

On the way down: unpublish, refuse new work, finish what was begun, close the listener, close the
store, leave a note, exit. The kernel then releases the lock, on which a successor may be waiting.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from ..auth import keys, record
from ..auth.grants import Grants
from ..auth.paths import Layout
from ..storage.engine import Store
from .deadline import Deadline
from .feed import Feed
from .http import table
from .http.app import Application
from .identity import Identity
from .life.descriptors import connections_within, raise_limit
from .life.lifecycle import Lifecycle, Phase
from .life.lock import OwnerLock
from .life.notify import Notifier
from .life.ready import ReadyPipe
from .life.side_threads import SideThreads
from .life.supervisor import Supervisor
from .mcp import routes as mcp_routes
from .network.buffers import Buffers
from .network.connections import Connections
from .network.fair import Crowd, FairLoop
from .network.listener import Server, bind, configure
from .retrieval import Retrieval
from .services import Services
from .settings import Settings
from .workers import Workers

if TYPE_CHECKING:
    from .lessons.classifier import Classifier

LAST_WORDS = 1.0
"""Seconds a reader gets to notice that its work was cancelled."""
AFTERWARDS = 2.0
"""Seconds for all that follows the drain: last words, connections, threads; the store is next."""

log = logging.getLogger("recalld")


class Process:
    """The running daemon."""

    def __init__(
        self,
        layout: Layout,
        settings: Settings,
        lock: OwnerLock,
        *,
        managed_by: str,
        ready: ReadyPipe,
        notifier: Notifier,
    ) -> None:
        self._layout = layout
        self._settings = settings
        self._lock = lock
        self._managed_by = managed_by
        self._ready = ready
        self._notifier = notifier
        self._crowd = Crowd()
        self._hurry = False
        self._way_down: Deadline | None = None

    def run(self) -> str:
        """Live, and return the reason of the end.

        Raises:
            RecalldError, StorageFault: the store cannot be opened; nothing was published.
        """
        sys.setswitchinterval(self._settings.switch_interval_ms / 1000)
        lifecycle = Lifecycle()
        lifecycle.phase = Phase.MIGRATING
        store = Store.open(self._layout.db, signer=_lazy_signer(self._layout.signing_key))
        try:
            listening = bind()
            lifecycle.phase = Phase.LISTENING
            identity = Identity.new(port=listening.getsockname()[1], managed_by=self._managed_by)
            services = self._wire(store, lifecycle, identity)
            try:
                with asyncio.Runner(loop_factory=partial(FairLoop, self._crowd)) as runner:
                    runner.run(self._serve(services, listening))
            finally:
                record.withdraw(self._layout, identity.instance)
                lifecycle.phase = Phase.STOPPING
                self._stop(services)
        finally:
            store.close()
        return lifecycle.reason

    def _time_left(self) -> float:
        """Seconds until everything but the store has ended or is left behind."""
        if self._way_down is None:
            self._way_down = Deadline.after(self._settings.drain_s + AFTERWARDS)
        return self._way_down.remaining()

    def _stop(self, services: Services) -> None:
        """End the threads side by side: a provider that hangs must not cost the readers' time."""
        services.workers.cancel_all()
        background = threading.Thread(target=_stop_background, args=(services,), daemon=True)
        background.start()
        services.workers.stop(self._time_left())
        background.join(max(self._time_left(), LAST_WORDS / 4))

    def _wire(self, store: Store, lifecycle: Lifecycle, identity: Identity) -> Services:
        settings = self._settings
        cap = connections_within(raise_limit(), settings.max_connections)
        feed = Feed(settings.max_streams)
        workers = Workers(
            store.reader,
            count=settings.workers,
            waiting=settings.waiting,
            before=self._crowd.let_pass,
        )
        store.writer.subscribe(feed.publish)
        return Services(
            settings=settings,
            layout=self._layout,
            identity=identity,
            lifecycle=lifecycle,
            store=store,
            grants=Grants(self._layout.grants),
            workers=workers,
            retrieval=Retrieval(store, settings),
            classifier=_classifier(store, settings),
            feed=feed,
            connections=Connections(
                cap, settings.head_timeout_s, settings.write_timeout_s, workers.is_full
            ),
            buffers=Buffers(settings.max_buffered),
        )

    async def _serve(self, services: Services, listening: socket.socket) -> None:
        application = Application(services, (*table.ROUTES, *mcp_routes.ROUTES))
        config = configure(application, self._settings, services.connections)
        server = Server(
            config,
            on_listening=lambda: self._announce(services),
            on_signal=lambda number: self._on_signal(services, number),
        )
        loop = asyncio.get_running_loop()
        loop.set_default_executor(SideThreads(self._time_left))
        services.feed.attach(loop)
        tasks: list[asyncio.Task[None]] = []
        lifecycle = services.lifecycle
        # The end first: whatever goes wrong on the way, it comes.
        lifecycle.on_drain(lambda: tasks.append(loop.create_task(self._finish(services, server))))
        lifecycle.on_drain(lambda: self._withdraw(services))
        lifecycle.on_drain(services.feed.close)
        lifecycle.on_drain(lambda: self._tell_stopping(lifecycle.reason))
        supervisor = Supervisor(services, self._lock, self._notifier)
        tasks.append(loop.create_task(supervisor.watch()))
        await server.serve(sockets=[listening])
        for task in tasks:
            task.cancel()

    def _withdraw(self, services: Services) -> None:
        record.withdraw(self._layout, services.identity.instance)

    def _tell_stopping(self, reason: str) -> None:
        self._notifier.stopping(reason)
        log.info("draining", extra={"reason": reason})

    async def _announce(self, services: Services) -> None:
        """Publish, then say so: whoever reads the record finds us answering."""
        if services.lifecycle.draining:  # a signal came first; nothing was published yet
            return
        record.publish(self._layout, services.identity.record())
        services.lifecycle.phase = Phase.READY
        self._ready.succeeded(services.identity.instance)
        self._notifier.ready()
        services.workers.start()
        services.retrieval.start()
        # What exists now lives for ever: a full collection need not walk it again (10-20 ms).
        gc.freeze()
        log.info(
            "ready",
            extra={
                "pid": os.getpid(),
                "port": services.identity.port,
                "managed_by": services.identity.managed_by,
                "version": services.identity.version,
            },
        )

    def _on_signal(self, services: Services, number: signal.Signals) -> None:
        if not services.lifecycle.drain(number.name):
            self._hurry = True  # asked twice: what is under way is cancelled, the clean-up is not
            services.workers.cancel_all()

    async def _finish(self, services: Services, server: Server) -> None:
        """Let what was begun end, for a while; then cancel reads and close everything."""
        self._time_left()  # the clock runs from here
        limit = 0.0 if self._hurry else self._settings.drain_s
        if not await services.lifecycle.settled(limit):
            log.warning("cancelling work", extra={"requests": services.lifecycle.in_flight})
            services.workers.cancel_all()
            await services.lifecycle.settled(LAST_WORDS)
        server.end()


def _stop_background(services: Services) -> None:
    services.retrieval.stop()
    if services.classifier is not None:
        services.classifier.stop()


def _classifier(store: Store, settings: Settings) -> Classifier | None:
    """The second reader of prompts, if the user turned one on."""
    if settings.llm == "off":
        return None
    from .lessons.classifier import Classifier  # subprocess and more, for the few who want it

    return Classifier(store, settings)


def _lazy_signer(path: str) -> Callable[[bytes], bytes]:
    """Signs with the key of the data folder, which is loaded or made with the first signature.

    nacl costs 40 ms of import, and a daemon that only reads never needs it.
    """

    @cache
    def key() -> keys.Signer:
        return keys.load_or_create(path)

    return lambda data: key().sign(data)
