"""`recalld mcp`: from a host's stdin to the daemon's /mcp, and back to its stdout.

The main thread only watches: stdin, the other end of stdout, the parent, the clock. Calls are
carried by threads, so a slow one holds up nobody, and one thread writes, so a host that stops
reading cannot keep us from noticing that it has gone. The daemon is found anew whenever it is lost;
it never depends on us.
"""

from __future__ import annotations

import os
import queue
import select
import signal
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import NoReturn

from ...auth.errors import DaemonSilent, RecalldError
from ...auth.paths import Layout
from ..connection.deadline import Deadline
from . import messages
from .calls import Courier, Door, Stage, told
from .host import Host, leave
from .messages import Id, Lines, Message

THREADS = 16
"""Calls under way at once; more wait, and their time runs."""
FAREWELL = 1.2
"""Seconds that calls under way get when stdin ends; with PARTING we are gone after 2."""
FIRST_ANSWER = 5.0
"""Seconds they get from a daemon that was never asked: it loads what speaks MCP, which takes one
second and under load several. While a daemon is being started they get all the time of a call."""
PARTING = 0.5
"""Seconds for the answers to leave in."""
GRACE = 0.5
"""Seconds a call may overrun its deadline before its id is answered without it."""

_TICK_MS = 400
_FAREWELL_TICK_MS = 20
_UNANSWERED = DaemonSilent.exit_code
_PIECE = 262_144


class Flight:
    """One request on its way; its id is answered once, by whoever is first."""

    def __init__(self, message: Message, seconds: float) -> None:
        self.message = message
        self.deadline = Deadline(seconds)
        self.patience = Deadline(seconds + GRACE)
        self._claim = threading.Lock()

    def claim(self) -> bool:
        """Whether the caller is the one to answer."""
        return self._claim.acquire(blocking=False)


class Outbox:
    """The protocol's own descriptor, written by one thread, a line at a time."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._unwritten = 0
        self._count = threading.Lock()
        threading.Thread(target=self._write, name="outbox", daemon=True).start()

    @property
    def empty(self) -> bool:
        """Whether all that was put in has left."""
        return not self._unwritten

    def put(self, line: bytes) -> None:
        """Send a line as soon as those before it have left."""
        with self._count:
            self._unwritten += 1
        self._lines.put(line + b"\n")

    def _write(self) -> None:
        while True:
            rest = self._lines.get()
            while rest:
                try:
                    rest = rest[os.write(self._fd, rest) :]
                except BlockingIOError:  # the host made its end of a shared socket non-blocking
                    select.select((), (self._fd,), ())
                except OSError:
                    leave()  # nobody reads any more
            with self._count:
                self._unwritten -= 1


class Bridge:
    """The state between stdin and stdout."""

    def __init__(self, door: Door, outbox: Outbox, seconds: float) -> None:
        self._door = door
        self._outbox = outbox
        self._seconds = seconds
        self._lines = Lines()
        self._flights: dict[int, Flight] = {}
        self._threads = ThreadPoolExecutor(THREADS, "call")
        self._own = threading.local()
        self._unheard: list[Flight] = []

    @property
    def stage(self) -> Stage:
        """How far the daemon is that calls wait for; when none does, only the host is slow."""
        return self._door.stage if self._flights else Stage.ANSWERING

    @property
    def busy(self) -> bool:
        """Whether anything is still to be answered."""
        return bool(self._flights) or not self._outbox.empty

    def part(self) -> None:
        """Nothing more comes in: from now on it counts what no daemon answers."""
        self._unheard.clear()

    def give_up(self) -> int:
        """Answer every open call with an error; returns how many no daemon answered."""
        left = list(self._flights.values())
        sentence = "The input ended, and the daemon did not answer in the time that was left."
        for flight in left:
            line = messages.failure(flight.message.id, messages.FAILED, sentence)
            self._land(flight, line)
        return len(left) + len(self._unheard)

    def take(self, data: bytes) -> None:
        """Take what stdin had."""
        for line in self._lines.feed(data):
            for found in messages.read(line):
                if isinstance(found, bytes):
                    self._outbox.put(found)
                elif found.method and found.id is not None:
                    self._depart(found)
                elif found.method == "notifications/cancelled":
                    self._abandon(found.params.get("requestId"))
                # Other notifications mean nothing to a server without sessions, and it asks nothing
                # that could be answered.

    def expire(self) -> None:
        """Answer for calls that overran their time, such as those that no thread had time for."""
        for flight in list(self._flights.values()):
            if flight.patience.over:
                code, sentence = messages.FAILED, "The daemon did not answer in time."
                self._land(flight, messages.failure(flight.message.id, code, sentence))

    def _depart(self, message: Message) -> None:
        flight = Flight(message, self._seconds)
        self._flights[id(flight)] = flight
        self._threads.submit(self._carry, flight)

    def _carry(self, flight: Flight) -> None:
        if flight.deadline.over:
            return
        try:
            line = self._courier().carry(flight.message, flight.deadline)
        except RecalldError as error:
            if self._door.stage is not Stage.ANSWERING:
                self._unheard.append(flight)
            line = told(flight.message, error)
        self._land(flight, line)

    def _courier(self) -> Courier:
        courier: Courier | None = getattr(self._own, "courier", None)
        if courier is None:
            courier = self._own.courier = Courier(self._door)
        return courier

    def _land(self, flight: Flight, line: bytes | None) -> None:
        if flight.claim():
            if line is not None:
                self._outbox.put(line)
            self._flights.pop(id(flight), None)

    def _abandon(self, number: object) -> None:
        """The host no longer wants this answer; by the protocol it gets none."""
        for flight in list(self._flights.values()):
            if isinstance(number, Id) and flight.message.id == number:
                self._land(flight, None)


def run(
    layout: Layout, environ: Mapping[str, str], *, output: int, folder: str, seconds: float
) -> NoReturn:
    """Bridge until the host goes; `output` is the descriptor that was stdout.

    `seconds` is how long one call may take, a start of the daemon included. The exit code is
    75 when stdin ended and some calls were answered by nobody but us, else 0.
    """
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _on_signal)
    bridge = Bridge(Door(layout, environ, folder, _notice), Outbox(output), seconds)
    host = Host(output)
    _watch(bridge, host)
    host.ended()
    bridge.part()
    _part(bridge, host, seconds)
    left = bridge.give_up()
    if left:
        _notice(
            f"stdin ended; {left} {'call' if left == 1 else 'calls'} got no answer from the"
            " daemon. Run: recalld doctor"
        )
        parting = Deadline(PARTING)
        while bridge.busy and not parting.over:
            time.sleep(0.01)
    leave(_UNANSWERED if left else 0)


def _watch(bridge: Bridge, host: Host) -> None:
    """Until stdin ends, or nobody is there to read what we say."""
    while True:
        if host.speaks(_TICK_MS):
            try:
                data = os.read(0, _PIECE)
            except BlockingIOError:
                continue
            except OSError:
                return
            if not data:
                return
            bridge.take(data)
        bridge.expire()


def _part(bridge: Bridge, host: Host, seconds: float) -> None:
    """Wait for what is under way when stdin has ended.

    `printf … | recalld mcp` ends its input before the daemon has started: the time for answers
    begins when there is somebody to give them.
    """
    seconds_at = {Stage.ABSENT: seconds, Stage.THERE: FIRST_ANSWER, Stage.ANSWERING: FAREWELL}
    patience, stage = Deadline(seconds), bridge.stage
    farewell = Deadline(seconds_at[stage])
    while bridge.busy and not farewell.over and not patience.over:
        host.speaks(_FAREWELL_TICK_MS)
        if bridge.stage is not stage:
            stage = bridge.stage
            farewell = Deadline(seconds_at[stage])


def _on_signal(_number: int, _frame: FrameType | None) -> None:
    leave()


def _notice(line: str) -> None:
    os.write(2, f"recalld: {line}\n".encode("utf-8", "replace"))
