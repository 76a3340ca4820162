"""One verb: find it, run it, turn every ending into a sentence and an exit code.

Only the parser of the verb at hand is built and only its module imported; a warm verb is mostly the
interpreter's own start.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, cast

from ...auth.errors import DiskFull, InvalidRequest, RecalldError, StorageTrouble
from . import terminal
from .catalogue import VERBS

if TYPE_CHECKING:
    from .verb import Verb

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells report SIGINT."""

BROKEN_PIPE = 141
"""Exit code when the reader of our output went away, as shells report SIGPIPE."""

_USAGE = "usage: recalld VERB [ARGUMENT]… [--json]"


def run(arguments: list[str]) -> int:
    """Run one verb; the exit code is 0 or that of the error's class."""
    try:
        code = _guarded(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = BROKEN_PIPE
    except OSError as error:  # stdout is a file on a full disk, a closed descriptor, …
        _report(StorageTrouble(f"The output could not be written: {error.strerror}."), False)
        code = DiskFull.exit_code
    if code in {INTERRUPTED, BROKEN_PIPE, DiskFull.exit_code}:
        _silence()
    return code


def _guarded(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        return _dispatch(arguments)
    except RecalldError as error:
        _report(error, as_json)
        return error.exit_code
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except OSError as error:
        if error.filename is None:
            raise
        trouble = StorageTrouble(f"{error.filename}: {error.strerror}.", hint="Run: recalld doctor")
        _report(trouble, as_json)
        return trouble.exit_code
    except Exception as error:  # a bug of ours, but never a stack trace in somebody's agent
        if os.environ.get("RECALLD_TRACEBACK"):
            raise
        bug = RecalldError(
            f"Something went wrong inside recalld: {type(error).__name__}: {error}.",
            hint="Please report it; RECALLD_TRACEBACK=1 shows where.",
        )
        _report(bug, as_json)
        return bug.exit_code


def _dispatch(arguments: list[str]) -> int:
    name, rest = (arguments[0], arguments[1:]) if arguments else ("--help", [])
    if name in {"-h", "--help", "help"}:
        return _help(rest)
    if name in {"-V", "--version"}:
        return _version()
    if name.startswith("-"):
        raise InvalidRequest(
            f"There is no option {name!r} before the verb.",
            hint="Options follow it, as in `recalld recall QUERY --json`. Run: recalld --help",
        )
    if name not in VERBS:
        raise _unknown(name)
    return _run(name, rest)


def _unknown(name: str) -> InvalidRequest:
    from difflib import get_close_matches  # only where somebody mistyped

    near = get_close_matches(name, VERBS, n=1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    return InvalidRequest(f"There is no verb {name!r}.", hint=f"{meant}Run: recalld --help")


def _run(name: str, arguments: list[str]) -> int:
    from .verb import Context, parser

    verb = load(name)
    try:
        args = parser(name, verb).parse_args(arguments)
    except SystemExit:  # --help was asked for and printed
        return 0
    context = Context(os.environ, json=bool(args.json), seconds=float(args.timeout))
    try:
        return verb.run(context, args)
    finally:
        context.close()


def load(name: str) -> Verb:
    """The verb of this name, its module imported now."""
    module = import_module(f".{VERBS[name].module}", __package__)
    return cast("dict[str, Verb]", module.VERBS)[name]


def _help(rest: list[str]) -> int:
    words = [word for word in rest if not word.startswith("-")]
    if words and words[0] not in VERBS:
        raise _unknown(words[0])
    if words:
        return _run(words[0], [*words[1:], "--help"])
    width = max(map(len, VERBS)) + 2
    terminal.say(f"{_USAGE}\n\nOne memory for every coding agent on this machine.\n")
    for name, entry in VERBS.items():
        terminal.say(f"  {name:<{width}}{entry.summary}")
    terminal.say("\nRun `recalld VERB --help` for arguments and an example.")
    return 0


def _version() -> int:
    from ..version import VERSION

    terminal.say(f"recalld {VERSION}")
    return 0


def _report(error: RecalldError, as_json: bool) -> None:
    """The machine form goes to stdout, where machines read; people get one sentence on stderr."""
    if as_json:
        terminal.say(terminal.as_json(error.to_wire()))
        return
    terminal.notice(f"{error.message} {error.hint or ''}".strip())


def _silence() -> None:
    """Keep the interpreter's own last flush from failing again, and from saying so."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError, ValueError):  # there may be no stdout left to protect
        os.dup2(nowhere, sys.stdout.fileno())
