"""The ASGI application: guards, route, rights, body, handler, answer; in this order, always."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncGenerator, Sequence
from urllib.parse import parse_qsl

from pydantic import BaseModel
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

from ...auth.errors import Busy, Draining, InvalidRequest, MalformedBody, RecalldError
from ...storage.faults import StorageFault
from ..network.connections import PEER, Peer, over_the_cap
from ..services import Services
from .access import Need, authenticate, shows_token
from .answers import JSON, Answer, refusal
from .bodies import ClientGone, Inbox, decode, validate
from .call import Call
from .head import Head, check_head, check_media_type, read_head
from .route import Route
from .router import Router
from .translation import translate

UNAUTHENTICATED_BODY = 4096
"""Bytes a body may have on routes open to anyone."""
UNAUTHENTICATED_S = 2.0
"""Seconds it may take to arrive; our clients send it in one piece with the head."""
QUERY_FIELDS = 100

log = logging.getLogger("recalld.http")


class Application:
    """Answers every request: with what its handler says, or with an error of the one tree."""

    def __init__(self, services: Services, routes: Sequence[Route]) -> None:
        self._services = services
        self._router = Router(routes)
        self._numbers = itertools.count(1)

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """One request, by the rules of ASGI."""
        if scope["type"] != "http":
            return
        request_id = f"{self._services.identity.instance}-{next(self._numbers):x}"
        inbox = Inbox(receive, self._services.buffers)
        try:
            answer = await self._answer(scope, receive, inbox, request_id)
        except ClientGone:
            return
        finally:
            inbox.release()
        last = self._is_last(answer, scope, inbox)
        await _send(answer, _headers(answer, request_id, last=last), send)
        if answer.stream is not None:
            await self._follow(answer.stream, scope, send)

    async def _answer(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, inbox: Inbox, request_id: str
    ) -> Answer:
        try:
            return await self._handle(scope, receive, inbox)
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

    async def _handle(self, scope: HTTPScope, receive: ASGIReceiveCallable, inbox: Inbox) -> Answer:
        services, peer = self._services, _peer(scope)
        head = read_head(scope["method"], scope["path"], scope["query_string"], scope["headers"])
        check_head(head, services.identity.port)
        route, path = self._router.find(head.method, head.path)
        busy = over_the_cap(services.connections)
        if not route.while_draining:
            # Never hello: who cannot hear that we are busy takes us for somebody else.
            if busy is not None:
                raise busy
            if services.lifecycle.draining:
                raise _draining()
        if shows_token(head) and not services.grants.is_current():
            # 20,000 grants take the loop's time for a tenth of a second, a slow disk longer.
            await asyncio.to_thread(services.grants.refresh)
        access = authenticate(head, route.need, services.grants, services.identity.secret)
        if route.keyed and access is not None:
            # Before its body is looked at: whoever may change nothing is not told what is wrong.
            access.writable()
        if access is not None:
            peer.keep()
        call = Call(services, head, receive, access, path)
        query = _query(route, head)
        raw = await self._read(route, head, inbox, is_here=peer.has_arrived())
        call.fill(raw, _body(route, raw), query)
        if route.while_draining or route.streams:
            return await route.handler(call)
        with services.lifecycle.work():
            return await route.handler(call)

    async def _read(self, route: Route, head: Head, inbox: Inbox, *, is_here: bool) -> bytes:
        if not head.has_body:
            return b""
        if route.body is None:
            raise InvalidRequest("This route takes no body.")
        check_media_type(head)
        within, limit = self._services.settings.body_timeout_s, self._body_limit(route)
        if route.need is Need.NOBODY:
            within, limit = min(within, UNAUTHENTICATED_S), UNAUTHENTICATED_BODY
        if is_here:
            return await inbox.collect(limit)
        lifecycle = self._services.lifecycle
        return await inbox.read(head.length, lifecycle, limit=limit, within=within)

    def _body_limit(self, route: Route) -> int:
        settings = self._services.settings
        return settings.max_batch_body if route.batch else settings.max_body

    def _refuse(self, error: RecalldError, request_id: str) -> Answer:
        if error.status >= 500 and not isinstance(error, Draining):
            self._services.last_error = error.code
            log.warning("request refused", extra={"code": error.code, "request": request_id})
        return refusal(error)

    def _is_last(self, answer: Answer, scope: HTTPScope, inbox: Inbox) -> bool:
        """Whether the connection is of no more use after this answer.

        Its input was not read, we are leaving, or whoever was told to come back sits in a place
        that others wait for.
        """
        services = self._services
        crowded = answer.status == Busy.status and services.connections.over()
        unread = _announces_body(scope) and not inbox.complete
        return answer.stream is not None or services.lifecycle.draining or crowded or unread

    async def _follow(
        self, stream: AsyncGenerator[bytes], scope: HTTPScope, send: ASGISendCallable
    ) -> None:
        """Send the events; who takes none of them for too long is cut off (slots are few)."""
        patience = self._services.settings.write_timeout_s
        try:
            async with contextlib.aclosing(stream):
                async for part in stream:
                    async with asyncio.timeout(patience):
                        await send({"type": "http.response.body", "body": part, "more_body": True})
            async with asyncio.timeout(patience):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            _peer(scope).abort()


def _peer(scope: HTTPScope) -> Peer:
    """The connection a request came on."""
    found: Peer = scope.get("state", {})[PEER]
    return found


def _announces_body(scope: HTTPScope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )


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


def _headers(answer: Answer, request_id: str, *, last: bool) -> list[tuple[bytes, bytes]]:
    streaming = answer.stream is not None
    headers: list[tuple[bytes, bytes]] = [
        (b"content-type", b"text/event-stream" if streaming else JSON),
        (b"x-request-id", request_id.encode("ascii")),
        (b"cache-control", b"no-store"),
        *answer.headers,
    ]
    if not streaming:
        headers.append((b"content-length", str(len(answer.body)).encode("ascii")))
    if last:
        headers.append((b"connection", b"close"))
    return headers


async def _send(answer: Answer, headers: list[tuple[bytes, bytes]], send: ASGISendCallable) -> None:
    """Head and body without a pause between them, so that they leave in one piece."""
    more = answer.stream is not None
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": more})
