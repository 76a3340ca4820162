"""Where an SDK client's calls go and what they carry: the daemon's record and the checkout's token.

Everything here blocks (files, locks, processes); AsyncMemory comes here through a thread. Both are
cached, so a warm call touches none of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...auth.errors import GrantElsewhere, Unauthenticated
from ...auth.paths import Layout, layout
from ...auth.record import Record
from ..connection import access, former_note
from ..connection.access import Credentials, Notice
from ..connection.channel import Channel
from ..connection.connect import connect
from ..connection.deadline import Deadline


def say(line: str) -> None:
    """Tell the person on stderr, as the command line does."""
    sys.stderr.write(f"recalld: {line}\n")


@dataclass(frozen=True)
class Settings:
    """How an SDK client was made; see `Memory`."""

    checkout: str | None = None
    token: str | None = None
    home: str | None = None
    start: bool = True
    timeout: float = 15.0
    notice: Notice = say
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


class Anchor:
    """The record of the daemon in use and the credentials for it, found when first needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        environ = dict(settings.environ)
        if settings.home is not None:
            environ["RECALLD_HOME"] = settings.home
        if settings.token is not None:
            environ[access.TOKEN_VARIABLE] = settings.token
        self._environ = environ
        self.layout: Layout = layout(environ)
        # A whole new record or None, never changed in place: threads of one client share it.
        self.record: Record | None = None
        self.credentials: Credentials | None = None

    def find(self, deadline: Deadline) -> Record:
        """The record of a daemon that has just proven itself, started if need be."""
        live = connect(self.layout, self._environ, deadline, start=self._settings.start)
        live.wire.close()
        self.record = live.record
        return live.record

    def identify(self, deadline: Deadline) -> Credentials:
        """The credentials of the checkout, minted at its first use."""
        folder = self._settings.checkout or os.getcwd()
        channel = self._channel(deadline)
        try:
            found = access.credentials(channel, folder, self._environ, self._settings.notice)
        finally:
            channel.close()
        self.credentials = found
        return found

    def renew(
        self, old: Credentials, error: GrantElsewhere | Unauthenticated, deadline: Deadline
    ) -> Credentials:
        """Other credentials after a refusal: the checkout was moved, or its token replaced.

        Raises the refusal when there are no others.
        """
        if isinstance(error, Unauthenticated):
            found = self.identify(deadline)
            if found == old:
                raise access.refused(error, old) from error
            return found
        channel = self._channel(deadline)
        try:
            found = access.moved(channel, old, self._settings.notice)
        finally:
            channel.close()
        if found.root is not None:
            former_note.announce(self.layout, found.root, self._settings.notice)
        self.credentials = found
        return found

    def _channel(self, deadline: Deadline) -> Channel:
        return Channel(self.layout, self._environ, deadline, start=self._settings.start)

    def lose(self, record: Record) -> None:
        """The daemon of this record is gone or leaving: find one anew at the next call."""
        if self.record is record:
            self.record = None

    def proof(self, port: int) -> Record | None:
        """The record that whoever answers on this port has to match."""
        record = self.record
        return record if record is not None and record.port == port else None
