"""One row of the route table: everything that is known about one method on one path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pydantic import BaseModel

from ...auth.errors import RecalldError
from .access import Need
from .answers import Answer
from .call import Call

Handler = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Route:
    """Routing, guards and the OpenAPI description all come from this one row.

    `errors` are the route's own; those every route can answer are added by `openapi`.
    """

    method: str
    path: str
    handler: Handler
    need: Need
    summary: str
    response: type[BaseModel]
    status: tuple[int, ...] = (200,)
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    errors: tuple[type[RecalldError], ...] = ()
    batch: bool = field(default=False)
    """The body may be as large as a batch."""
    keyed: bool = field(default=False)
    """The route changes memories: it takes an Idempotency-Key, and the right to write somewhere."""
    while_draining: bool = field(default=False)
    """The route is answered to the very end."""
    streams: bool = field(default=False)
    """The answer is an event stream."""
