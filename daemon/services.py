"""What request handlers work with: one object, made at start, the same for the whole life."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

from ..auth.grants import Grants
from ..auth.paths import Layout
from ..storage.engine import Store
from .feed import Feed
from .identity import Identity
from .life.lifecycle import Lifecycle
from .network.buffers import Buffers
from .network.connections import Connections
from .retrieval import Retrieval
from .returns import Returns
from .settings import Settings
from .workers import Workers

if TYPE_CHECKING:
    from .lessons.classifier import Classifier

T = TypeVar("T")


@dataclass(slots=True)
class Services:
    """The parts of the daemon, wired together in `process`."""

    settings: Settings
    layout: Layout
    identity: Identity
    lifecycle: Lifecycle
    store: Store
    grants: Grants
    workers: Workers
    retrieval: Retrieval
    feed: Feed
    connections: Connections
    buffers: Buffers
    classifier: Classifier | None
    """The optional second reader of prompts; None while it is off."""
    returns: Returns = field(default_factory=Returns)
    stale_code: bool = field(default=False)
    """The code on disk is another version than the one running; looked up by the supervisor."""
    last_error: str | None = field(default=None)
    """Class of the last failure nobody was to blame for, for `status`."""
    _parts: dict[type, object] = field(default_factory=dict[type, object])

    def part(self, kind: type[T]) -> T:
        """The daemon's one object of this class, made when it is first asked for.

        For what a protocol keeps between its requests: the services need not know the protocol.
        """
        if kind not in self._parts:
            self._parts[kind] = kind()
        return cast("T", self._parts[kind])
