"""Taking one event to the daemon and bringing back what it says, if that is quick.

Whatever stands in the way ends as Undelivered (the event is spooled) or Refused (it is dropped,
because a revoked grant must not get in by way of the spool).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress

from ...auth.errors import (
    AccessDenied,
    DaemonUnreachable,
    GrantElsewhere,
    InvalidRequest,
    RecalldError,
    RequestTimeout,
    Unauthenticated,
)
from ...auth.paths import Layout
from ..connection import access
from ..connection.channel import Channel
from ..connection.deadline import Deadline
from ..connection.discovery import signature
from ..connection.documents import Document, text
from ..connection.request import Request, encode
from . import wedge
from .event import Answer, answer

TARGET = "/v1/events"

_FAIR = 0.5
"""Seconds a daemon must have had before it is called silent; less says something about us."""

_FIRST_PAUSE = 0.02
_LAST_PAUSE = 0.1


class Undelivered(Exception):
    """The daemon has not confirmed the event; whether it has it is settled by the event's id."""


class Unreached(Undelivered):
    """There is no daemon, or none that reacts."""


class Refused(Exception):
    """The daemon does not want the event, now or ever."""


def _unsaid(_line: str) -> None:
    """What a verb would tell the person about a first grant; a hook's output is the host's."""


class Delivery:
    """One event on its way from a folder, with all the time it may take."""

    def __init__(
        self, layout: Layout, environ: Mapping[str, str], folder: str, deadline: Deadline
    ) -> None:
        self._layout = layout
        self._environ = environ
        self._folder = folder
        self._deadline = deadline

    def send(self, event: Document, *, reply: bool, wait: bool) -> Answer:
        """Deliver; with `wait` a daemon that has to be started first is waited for.

        `reply` tells the daemon whether the host can pass on what it has to say: a rule that is
        shown once in a session must not be used up on an event that shows nothing. Raises
        Undelivered or Refused.
        """
        if self._deadline.over:
            raise Undelivered("no time was left")
        if wedge.known(self._layout):
            raise Undelivered("the daemon was silent a moment ago")
        try:
            return self._attempt(event, reply)
        except Unreached:
            if not (self._under_way() and wait):
                raise
        return self._when_up(event, reply)

    def _under_way(self) -> bool:
        """Whether a daemon is starting, started by us if nobody else did; wedged ones are noted.

        Whoever holds daemon.lock without a record is still starting; with one, it does not react.
        """
        from ..connection.stopping import owned  # locks; only where something is wrong
        from .starter import start

        if owned(self._layout):
            if self._deadline.over and self._deadline.seconds >= _FAIR:
                wedge.remember(self._layout)
            return signature(self._layout) is None
        try:
            start(self._layout, self._environ)
        except (OSError, RecalldError) as error:
            raise Unreached(f"no daemon, and none could be started: {_named(error)}") from error
        return True

    def _when_up(self, event: Document, reply: bool) -> Answer:
        """Try again and again: a record left by a killed daemon is refused in a millisecond."""
        pause = _FIRST_PAUSE
        while not self._deadline.over:
            time.sleep(self._deadline.within(pause))
            pause = min(pause * 1.5, _LAST_PAUSE)
            if signature(self._layout) is not None:
                with suppress(Unreached):
                    return self._attempt(event, reply)
        raise Unreached("the daemon was not up in time")

    def _attempt(self, event: Document, reply: bool) -> Answer:
        channel = Channel(self._layout, self._environ, self._deadline, start=False)
        try:
            return answer(self._ask(channel, event, reply))
        except DaemonUnreachable as error:
            raise Unreached(_named(error)) from error
        except RequestTimeout as error:
            raise Undelivered(_named(error)) from error
        except (InvalidRequest, AccessDenied) as error:
            raise Refused(_named(error)) from error
        except (OSError, RecalldError) as error:
            raise Undelivered(_named(error)) from error
        finally:
            channel.close()

    def _ask(self, channel: Channel, event: Document, reply: bool) -> Document:
        found = access.credentials(channel, self._folder, self._environ, _unsaid)
        body = encode({"events": [event], "reply": reply})
        pinned = access.pinned(found)
        request = Request("POST", TARGET, body, found.token, checkout=found.root, namespace=pinned)
        request = request._replace(key=text(event, "id"))  # sent again after a broken connection
        try:
            return channel.call(request)
        except GrantElsewhere:
            found = access.moved(channel, found, _unsaid)
            return channel.call(request._replace(token=found.token))
        except Unauthenticated:
            raise
        except AccessDenied as error:
            if pinned is None or found.checkout is None:
                raise
            raise access.unconfirmed(pinned, found.checkout) from error


def _named(error: Exception) -> str:
    """The error for the log: its code where it has one, for messages can quote what was sent."""
    return error.code if isinstance(error, RecalldError) else type(error).__name__
