"""`recalld logs`: what the daemon wrote, readable on a terminal and as it is in a pipe."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator

from ...auth.errors import NotFound
from ..connection.documents import Document, document, parse, text
from . import options, terminal
from .verb import Context, Verb

_POLL = 0.25
_HEAD = ("at", "level", "message")
_UNSHOWN = "logger"
"""A line's origin in our own source says nothing to whoever reads it."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        "--lines",
        type=options.whole(0, 100_000),
        default=50,
        metavar="N",
        help="the last so many (default: 50)",
    )
    parser.add_argument("-f", "--follow", action="store_true", help="keep printing what is added")


def _logs(context: Context, args: argparse.Namespace) -> int:
    path = context.layout.log
    plain = context.json or not terminal.on_terminal()
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below; followed over rotations
    except FileNotFoundError:
        raise NotFound(f"There is no log at {path} yet.", hint="Run: recalld start") from None
    with file:
        lines = file.read().decode("utf-8", "replace").splitlines()
        for line in lines[len(lines) - min(args.lines, len(lines)) :]:
            terminal.say(_shown(line, plain=plain))
        if args.follow:
            sys.stdout.flush()
            for line in _following(path, file.tell()):
                terminal.say(_shown(line, plain=plain))
                sys.stdout.flush()
    return 0


def _shown(line: str, *, plain: bool) -> str:
    """One line of the log: as it is, or as its time, level, message and the rest."""
    entry = {} if plain else document(parse(line.encode()))
    if not text(entry, "message"):  # what a dying process printed is no JSON
        return terminal.one_line(line)
    rest = "  ".join(
        f"{name}={_value(value)}"
        for name, value in entry.items()
        if name not in _HEAD and name != _UNSHOWN
    )
    told = f"{_local(text(entry, 'at'))} {text(entry, 'level'):<7} {text(entry, 'message')}"
    return terminal.one_line(f"{told}  {rest}".rstrip())


def _value(value: object) -> str:
    inner: Document = document(value)
    if inner:
        return " ".join(f"{name}:{_value(part)}" for name, part in inner.items())
    return value if isinstance(value, str) else terminal.as_json(value)


def _local(moment: str) -> str:
    """The time on the reader's own clock, to the second."""
    from datetime import datetime  # only a terminal pays

    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return moment


def _following(path: str, position: int) -> Iterator[str]:
    """Lines as they are added, for ever; a rotated log is read from its start."""
    rest = b""
    while True:
        try:
            with open(path, "rb") as file:
                if os.fstat(file.fileno()).st_size < position:
                    position = 0
                file.seek(position)
                rest += file.read()
                position = file.tell()
        except FileNotFoundError:
            position = 0
        *whole, rest = rest.split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in whole)
        time.sleep(_POLL)


VERBS = {
    "logs": Verb(_arguments, _logs, "Print the end of the daemon's log.", "recalld logs -n 20"),
}
