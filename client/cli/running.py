"""`recalld start`, `stop`, `restart` and `status`: the daemon's life as its owner sees it."""

from __future__ import annotations

import argparse

from ..connection.documents import Document, count, document, items, number, text
from ..service import vectors
from ..service.wording import counted, holdings, size, starter
from . import tables, terminal
from .verb import Context, Verb


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """These verbs take the common options only."""


def _start(context: Context, _args: argparse.Namespace) -> int:
    return _tell(context, "Running")


def _stop(context: Context, _args: argparse.Namespace) -> int:
    from ..connection.stopping import stop  # processes and locks; only these two verbs pay for them

    pid = stop(context.layout, context.deadline, "recalld stop")
    sentence = "No daemon was running." if pid is None else f"Stopped (pid {pid})."
    return context.tell({"stopped": pid is not None, "pid": pid}, sentence)


def _restart(context: Context, _args: argparse.Namespace) -> int:
    from ..connection.rehearsal import rehearse
    from ..connection.stopping import stop

    rehearse(context.layout, context.environ, context.deadline)
    stop(context.layout, context.deadline, "recalld restart")
    return _tell(context, "Restarted")


def _tell(context: Context, deed: str) -> int:
    live = context.channel.live()
    known = live.record
    version, manager = live.hello.version, known.managed_by
    told: Document = {"pid": known.pid, "port": known.port, "version": version}
    return context.tell(
        {**told, "managed_by": manager},
        f"{deed} (pid {known.pid}, port {known.port}, recalld {version}, {starter(manager)}).",
    )


def _status(context: Context, _args: argparse.Namespace) -> int:
    context.running()
    answer = context.own("GET", "/v1/status")
    if context.json:
        terminal.say(terminal.as_json(answer))
        return 0
    begun = starter(text(answer, "managed_by"))
    found = vectors.finding(document(answer.get("embedding")), context.layout.config)
    terminal.fields(
        [
            ("pid", str(count(answer, "pid"))),
            ("port", str(count(answer, "port"))),
            ("version", f"{text(answer, 'version')} (API {_range(answer.get('api'))})"),
            ("up", f"{tables.span(number(answer, 'uptime_s'))}, {begun}"),
            ("store", holdings(answer)),
            *_set_aside(count(answer, "quarantined")),
            ("queue", str(size(answer, "queue"))),
            ("wal", f"{count(answer, 'wal_bytes')} bytes"),
            ("embedding", f"{found.seen}. {found.fix}" if found.fix else found.seen),
            ("last error", text(answer, "last_error") or "none"),
            ("data", context.layout.data),
            ("log", context.layout.log),
        ]
    )
    return 0


def _set_aside(number: int) -> list[tuple[str, str]]:
    """The line about memories that nobody is shown before somebody has looked at them."""
    if not number:
        return []
    found = f"{counted(number, 'memory', 'memories')} for review, in all projects together"
    return [("set aside", f"{found}. Those of this one: recalld list --status quarantined")]


def _range(value: object) -> str:
    return "-".join(str(part) for part in items(value)) or "unknown"


VERBS = {
    "start": Verb(
        _no_arguments, _start, "Start the daemon unless it already runs.", "recalld start"
    ),
    "stop": Verb(
        _no_arguments,
        _stop,
        "Stop the daemon after what it is working on; the next call starts a new one.",
        "recalld stop",
    ),
    "restart": Verb(
        _no_arguments, _restart, "Stop the daemon and start a new one.", "recalld restart"
    ),
    "status": Verb(_no_arguments, _status, "Say how the daemon is doing.", "recalld status --json"),
}
