"""The ASGI application: guards, route, rights, body, handler, answer; in this order, always."""

from __future__ import annotations

import contextlib
import itertools
import logging
from urllib.parse import parse_qsl

from pydantic import BaseModel
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

from ...auth.errors import Draining, InvalidRequest, MalformedBody, RecalldError
from ...storage.faults import StorageFault
from ..connections import over_the_cap
from ..services import Services
from .access import Need, authenticate
from .answers import JSON, Answer, refusal
from .bodies import ClientGone, Inbox, decode, validate
from .call import Call
from .head import Head, check_head, check_media_type, read_head
from .route import Route
from .router import Router
from .table import PROTOCOLS, ROUTES
from .translation import translate

UNAUTHENTICATED_BODY = 4096
"""Bytes a body may have on routes open to anyone."""
QUERY_FIELDS = 100

log = logging.getLogger("recalld.http")


class Application:
    """Answers every request: with what its handler says, or with an error of the one tree."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._router = Router((*ROUTES, *PROTOCOLS))
        self._numbers = itertools.count(1)

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """One request, by the rules of ASGI."""
        if scope["type"] != "http":
            return
        request_id = f"{self._services.identity.instance}-{next(self._numbers):x}"
        try:
            answer = await self._answer(scope, receive, request_id)
        except ClientGone:
            return
        await _send(answer, request_id, scope, send, self._services)

    async def _answer(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, request_id: str
    ) -> Answer:
        try:
            return await self._handle(scope, receive)
        except RecalldError as error:
            return self._refuse(error, request_id)
        except StorageFault as fault:
            return self._refuse(translate(fault), request_id)
        except ClientGone:
            raise
        except Exception as error:
            self._services.last_error = type(error).__name__
            log.exception("request failed", extra={"request": request_id, "path": scope["path"]})
            failure = RecalldError(
                "Something went wrong inside recalld.", hint=f"See the log for {request_id}."
            )
            return refusal(failure)

    async def _handle(self, scope: HTTPScope, receive: ASGIReceiveCallable) -> Answer:
        services = self._services
        head = read_head(scope["method"], scope["path"], scope["query_string"], scope["headers"])
        check_head(head, services.identity.port)
        busy = over_the_cap(services.connections)
        if busy is not None:
            raise busy
        route, path = self._router.find(head.method, head.path)
        if services.lifecycle.draining and not route.while_draining:
            raise _draining()
        access = authenticate(head, route.need, services.grants, services.identity.secret)
        call = Call(services, head, receive, access, path)
        query = _query(route, head)
        inbox = Inbox(receive, services.buffers, self._body_limit(route))
        try:
            raw = await self._read(route, head, inbox)
            call.fill(raw, _body(route, raw), query)
            if route.while_draining or route.streams:
                return await route.handler(call)
            with services.lifecycle.work():
                return await route.handler(call)
        finally:
            inbox.release()

    async def _read(self, route: Route, head: Head, inbox: Inbox) -> bytes:
        if not head.has_body:
            return b""
        if route.body is None:
            raise InvalidRequest("This route takes no body.")
        check_media_type(head)
        settings = self._services.settings
        return await inbox.read(head.length, self._services.lifecycle, settings.body_timeout_s)

    def _body_limit(self, route: Route) -> int:
        if route.need is Need.NOBODY:
            return UNAUTHENTICATED_BODY
        settings = self._services.settings
        return settings.max_batch_body if route.batch else settings.max_body

    def _refuse(self, error: RecalldError, request_id: str) -> Answer:
        if error.status >= 500 and not isinstance(error, Draining):
            self._services.last_error = error.code
            log.warning("request refused", extra={"code": error.code, "request": request_id})
        return refusal(error)


def _draining() -> Draining:
    return Draining("This daemon is stopping; the request was not executed.", retry_after_ms=0)


def _body(route: Route, raw: bytes) -> BaseModel | None:
    if route.body is None:
        return None
    return validate(route.body, decode(raw) if raw else {})


def _query(route: Route, head: Head) -> BaseModel | None:
    """The query parameters as the route's model; a parameter nobody knows is refused.

    That also refuses a token in the query, where it would end up in histories and logs.
    """
    if not head.query:
        return None if route.query is None else validate(route.query, {})
    if route.query is None:
        raise InvalidRequest("This route takes no query parameters.")
    try:
        pairs = parse_qsl(
            head.query.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=QUERY_FIELDS,
        )
    except ValueError:
        raise MalformedBody("The query parameters cannot be read.") from None
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return validate(route.query, values)


async def _send(
    answer: Answer, request_id: str, scope: HTTPScope, send: ASGISendCallable, services: Services
) -> None:
    """Head and body without a pause between them, so that they leave in one piece."""
    streaming = answer.stream is not None
    headers: list[tuple[bytes, bytes]] = [
        (b"content-type", b"text/event-stream" if streaming else JSON),
        (b"x-request-id", request_id.encode("ascii")),
        (b"cache-control", b"no-store"),
        *answer.headers,
    ]
    if not streaming:
        headers.append((b"content-length", str(len(answer.body)).encode("ascii")))
    if streaming or _must_close(answer, services, scope):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": streaming})
    if answer.stream is not None:
        async with contextlib.aclosing(answer.stream) as stream:
            async for part in stream:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _must_close(answer: Answer, services: Services, scope: HTTPScope) -> bool:
    """Whether the connection is of no more use: its input was not read, or we are leaving."""
    if services.lifecycle.draining or services.connections.over():
        return True
    unread = any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])
    return unread and answer.status in (400, 401, 403, 404, 405, 408, 413, 415, 421, 429, 431)
