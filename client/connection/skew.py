"""Daemon and client of different versions: who may replace whom."""

from __future__ import annotations

from ...auth.errors import ClientTooOld
from ...auth.record import API
from ..version import VERSION
from .discovery import Live


def too_old(live: Live) -> bool:
    """Whether the daemon must be replaced before we can use it; raises ClientTooOld the other way.

    Only API numbers count, never package versions: an equal API of another build is used as it is,
    and a newer daemon is never ended by an older client, so two versions cannot fight.
    """
    lowest, highest = live.hello.api
    if lowest > API[1]:
        live.wire.close()
        raise ClientTooOld(
            f"The daemon (recalld {live.hello.version}) speaks API {lowest}-{highest}, this client"
            f" ({VERSION}) up to {API[1]}.",
            hint="Upgrade recalld here.",
        )
    return highest < API[0]
