"""`recalld hook HOST [EVENT]`: one event in, one valid output out, exit code 0, within the budget.

0.00 s  stdout is taken for the protocol, the timer is set
1.00    reading and delivering end (0.60 where the daemon has nothing to say)
1.15    first ring: delivering is given up; the neutral output is said, the event spooled
1.35    last ring: the process ends; a child of it spools what is not yet spooled
1.50    what is allowed, the start of the interpreter included
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NoReturn

from ...auth.errors import RecalldError
from ...auth.paths import Layout, layout
from ..connection.access import TOKEN_VARIABLE
from ..connection.deadline import Deadline
from ..connection.documents import Document, text
from . import hosts, journal, streams, whereabouts
from .alarm import Alarm, left_to_child
from .delivery import Delivery, Refused, Undelivered
from .event import Answer, Event, is_answered
from .packing import packed
from .payload import payload

SWITCH = "RECALLD_HOOKS"
"""`off` makes every hook do nothing: for agents that recalld or a script runs in the background."""

ANSWER_SECONDS = 1.0
TELL_SECONDS = 0.6


def main(arguments: Sequence[str]) -> NoReturn:
    """Handle one event and end the process with 0, whatever happens."""
    words = [word for word in arguments if not word.startswith("-")]
    name = words[0] if words else ""
    if name not in hosts.NAMES:
        # Called by a person, or by settings someone wrote by hand; no host shows it at exit code 0.
        streams.said(2, f"recalld: hook needs one of {', '.join(hosts.NAMES)}\n".encode())
        os._exit(0)
    try:
        hook = Hook(name, words[1] if len(words) > 1 else "", os.environ)
        try:
            hook.run()
        except BaseException as error:  # an agent must not stop because of a mistake of ours
            hook.note(f"failed: {type(error).__name__}")
        hook.end()
    finally:
        # Not sys.exit: tearing the interpreter down costs as much as delivering the event.
        os._exit(0)


class Hook:
    """One run of the command. The host is told once, and before anything slow follows."""

    def __init__(self, name: str, event_name: str, environ: Mapping[str, str]) -> None:
        self._name = name
        self._event_name = event_name
        self._environ = environ
        self._said = False
        self._out = streams.taken()
        self._host = hosts.load(name)
        self._layout = _layout(environ)
        # One clock for everything: on a starved machine the start of a phase comes late already.
        self._clock = Deadline(ANSWER_SECONDS)
        self._alarm = Alarm(self._leave)
        self._alarm.set()

    def run(self) -> None:
        """From stdin to stdout, and to the spool when the daemon has not taken the event."""
        event = self._read()
        if event is None or self._layout is None or self._environ.get(SWITCH) == "off":
            return
        root = whereabouts.root(event.cwd, self._environ)
        if root is not None or self._environ.get(TOKEN_VARIABLE):
            self._deliver(self._layout, event, root or event.cwd)
        else:  # the daemon may know whose folder it was, or it may come back
            document = packed(event, self._name)
            self._spool(self._layout, document, event.cwd, Undelivered("the folder is gone"))

    def end(self) -> None:
        """Say the neutral output unless something has been said."""
        self._say(self._host.neutral(self._event_name))

    def _leave(self) -> None:
        """The time is up: the host gets what it is owed, a child the rest of the work."""
        self.end()
        left_to_child()
        os.close(self._out)  # else the host would wait for the end of our output

    def note(self, outcome: str) -> None:
        """One line in the log, where there is a place for it."""
        if self._layout is not None:
            journal.note(self._layout, self._name, self._event_name, outcome)

    def _read(self) -> Event | None:
        found = payload(streams.received(self._clock))
        self._event_name = text(found, "hook_event_name") or self._event_name
        return self._host.read(self._event_name, found)

    def _deliver(self, place: Layout, event: Event, root: str) -> None:
        document = packed(event, self._name)
        try:
            with self._alarm.rescuing():
                answer = self._ask(place, document, event.kind, root)
        except Refused as error:
            self.note(f"refused: {error}")
        except BaseException as error:  # Overrun, Undelivered, or a mistake: it is not lost
            self._say(self._host.neutral(self._event_name))
            self._spool(place, document, root, error)
        else:
            self._say(self._host.write(self._event_name, answer))

    def _ask(self, place: Layout, document: Document, kind: str, root: str) -> Answer:
        reply = is_answered(self._name, kind) and self._host.takes(self._event_name)
        deadline = Deadline(self._clock.within(ANSWER_SECONDS if reply else TELL_SECONDS))
        delivery = Delivery(place, self._environ, root, deadline)
        return delivery.send(document, reply=reply, wait=kind == "session_start")

    def _spool(self, place: Layout, document: Document, root: str, why: BaseException) -> None:
        from . import spool

        reason = str(why) if isinstance(why, Undelivered) else type(why).__name__
        try:
            kept = spool.put(place, root, document, self._environ.get(TOKEN_VARIABLE, ""))
        except (OSError, RecalldError) as error:
            self.note(f"lost ({reason}): {type(error).__name__}")
            return
        self.note(f"{'spooled' if kept else 'dropped, the spool is full'}: {reason}")

    def _say(self, output: bytes) -> None:
        if not self._said:
            self._said = True
            streams.said(self._out, output)


def _layout(environ: Mapping[str, str]) -> Layout | None:
    """Where everything is; None when the environment says something impossible."""
    try:
        return layout(environ)
    except RecalldError:
        return None
