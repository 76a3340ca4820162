"""What request handlers work with: one object, made at start, the same for the whole life."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..auth.grants import Grants
from ..auth.paths import Layout
from ..storage.engine import Store
from .feed import Feed
from .identity import Identity
from .life.lifecycle import Lifecycle
from .mcp.mount import Mount
from .network.buffers import Buffers
from .network.connections import Connections
from .retrieval import Retrieval
from .returns import Returns
from .settings import Settings
from .workers import Workers

if TYPE_CHECKING:
    from .lessons.classifier import Classifier


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
    mcp: Mount = field(default_factory=Mount)
    stale_code: bool = field(default=False)
    """The code on disk is another version than the one running; looked up by the supervisor."""
    last_error: str | None = field(default=None)
    """Class of the last failure nobody was to blame for, for `status`."""
