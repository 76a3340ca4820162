"""`recalld api METHOD PATH [BODY]`: any route, with discovery, proof and grant taken care of."""

from __future__ import annotations

import argparse
import sys

from ...auth.errors import InvalidRequest, MalformedBody, Unauthenticated
from ..connection.documents import parse
from ..connection.http1 import Answer
from ..connection.request import Request, new_key
from . import terminal
from .verb import Context, Verb

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")
OWNED = ("/v1/grants", "/v1/stop", "/v1/jobs")
"""Routes that only the owner may call; whoever runs the command is the owner."""
_STREAM = "/v1/stream"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("method", type=str.upper, choices=_METHODS, metavar="METHOD")
    parser.add_argument("path", metavar="PATH", help="for example /v1/stats; /v1/ may be left out")
    parser.add_argument("body", nargs="?", metavar="BODY", help="JSON; - reads it from stdin")
    parser.add_argument(
        "--owner",
        action="store_true",
        help="with the owner's rights (implied for grants, jobs and stop)",
    )


def _api(context: Context, args: argparse.Namespace) -> int:
    path, body = _path(args.path), _body(args.body)
    if args.method == "GET" and path.partition("?")[0] == _STREAM and not args.owner:
        context.follow(path, _Lines().hear)
        return 0
    if args.owner or path.startswith(OWNED):
        answer = _as_owner(context, Request(args.method, path, body, owner=True))
    else:
        answer = context.send(args.method, path, body, key=_key(args.method))
    _print(answer)
    return 0


def _as_owner(context: Context, request: Request) -> Answer:
    try:
        return context.channel.ask(request._replace(key=_key(request.method)))
    except Unauthenticated as error:
        # The daemon has just proven to know the secret we sent: it is the route that takes none.
        raise Unauthenticated(
            f"{request.method} {request.target} takes a checkout's token, not the owner's rights.",
            hint=f"Leave --owner out: recalld api {request.method} {request.target}",
        ) from error


def _path(path: str) -> str:
    if not path.startswith("/"):
        path = f"/v1/{path}"
    if not path.isascii() or any(char <= " " or char == "\x7f" for char in path):
        raise InvalidRequest("The path must be percent-encoded.", hint="A space is %20.")
    return path


def _body(given: str | None) -> bytes | None:
    if given is None:
        return None
    raw = sys.stdin.buffer.read() if given == "-" else given.encode("utf-8", "surrogateescape")
    if parse(raw) is None and raw.strip() != b"null":
        raise MalformedBody("The body is not JSON.", hint='Quote it: \'{"query": "redis"}\'')
    return raw


def _key(method: str) -> str | None:
    return new_key() if method in {"POST", "PUT", "PATCH", "DELETE"} else None


def _print(answer: Answer) -> None:
    if "json" not in answer.headers.get("content-type", ""):
        terminal.say(terminal.block(answer.body.decode("utf-8", "replace")))
        return
    terminal.say(terminal.as_json(parse(answer.body)))


class _Lines:
    """An event stream on its way out, a whole line at a time, however it is cut in between."""

    def __init__(self) -> None:
        self._rest = b""

    def hear(self, piece: bytes) -> None:
        """Print the lines that end in this piece, now: somebody may be waiting for them."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            terminal.say(terminal.block(line.decode("utf-8", "replace")))
        if lines:
            sys.stdout.flush()


VERBS = {
    "api": Verb(
        _arguments,
        _api,
        "Call any route of the HTTP API and print its answer.",
        'recalld api POST /v1/recall \'{"query": "redis", "limit": 3}\'',
    )
}
