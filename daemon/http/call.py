"""One admitted request on its way through a handler."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel
from uvicorn._types import ASGIReceiveCallable

from ...storage.reader import Reader
from ..deadline import Deadline
from ..services import Services
from ..workers import T
from .access import Access
from .head import Head

M = TypeVar("M", bound=BaseModel)


class Call:
    """What a handler gets: the services, who calls, and the checked parts of the request."""

    def __init__(
        self,
        services: Services,
        head: Head,
        receive: ASGIReceiveCallable,
        access: Access | None,
        path: dict[str, str],
    ) -> None:
        self.services = services
        self.head = head
        self.path = path
        self.raw = b""
        """The body as it was sent, for the idempotency digest."""
        self._receive = receive
        self._access = access
        self._body: BaseModel | None = None
        self._query: BaseModel | None = None

    def fill(self, raw: bytes, body: BaseModel | None, query: BaseModel | None) -> None:
        """Set the checked models; done by the application before the handler runs."""
        self.raw, self._body, self._query = raw, body, query

    def within(
        self,
        *,
        body: BaseModel | None = None,
        query: BaseModel | None = None,
        path: dict[str, str] | None = None,
    ) -> Call:
        """A call of another route on behalf of this one: the same caller, key and connection."""
        inner = Call(self.services, self.head, self._receive, self._access, path or {})
        inner.fill(self.raw, body, query)
        return inner

    @property
    def access(self) -> Access:
        """Who calls; only on routes that ask for it."""
        if self._access is None:
            raise TypeError(f"{self.head.path} is open to anyone: nobody is known there")
        return self._access

    def body(self, model: type[M]) -> M:
        """The request body, as the model the route table names."""
        if not isinstance(self._body, model):
            raise TypeError(f"{self.head.path} has no {model.__name__}")
        return self._body

    def query(self, model: type[M]) -> M:
        """The query parameters, as the model the route table names."""
        if not isinstance(self._query, model):
            raise TypeError(f"{self.head.path} has no {model.__name__}")
        return self._query

    async def gone(self) -> None:
        """Return when the client has closed the connection."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def deadline(self, timeout_ms: int | None = None) -> Deadline:
        """When this request has taken too long: by the client's word, else by the settings."""
        return Deadline.after((timeout_ms or self.services.settings.recall_timeout_ms) / 1000)

    async def read(
        self, job: Callable[[Reader, Deadline], T], deadline: Deadline | None = None
    ) -> T:
        """Run a reading job in a worker; it ends early when the client leaves."""
        return await self.services.workers.run(job, deadline or self.deadline(), self.gone())
