"""What every verb is made of, and what it gets to work with."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn, Protocol, TypeVar, cast

from ...auth.checkout import Checkout
from ...auth.errors import AccessDenied, GrantElsewhere, InvalidRequest, Unauthenticated
from ...auth.paths import Layout, layout
from ..connection import access, former_note
from ..connection.access import Credentials
from ..connection.channel import Channel
from ..connection.deadline import VERB_SECONDS, Deadline
from ..connection.documents import Document, document, parse
from ..connection.http1 import Answer
from ..connection.request import Request, encode, new_key
from . import terminal

T = TypeVar("T")


class Verb(NamedTuple):
    """One verb: how its arguments read, what it does, and an example for its help.

    `run` returns the exit code.
    """

    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Context, argparse.Namespace], int]
    summary: str
    example: str


_PLAINER = (
    (r"^the following arguments are required: ", "missing: "),
    (r"^argument \S+\|\S+: invalid choice: (.+) \(choose from (.+)\)$", r"there is no \1, only \2"),
    (r"^argument (\S+): invalid choice: (.+) \(choose from (.+)\)$", r"\1 cannot be \2, only \3"),
    (r"^argument (\S+): expected (at least )?one argument$", r"\1 needs a value"),
    (r"^unrecognized arguments: (--[a-z-]+)\b.*$", r"there is no \1 here"),
    (r"^unrecognized arguments: (.+)$", r"what is meant by \1 is not clear"),
    (r"^argument (\S+): ", r"\1: "),
)
"""What argparse says, and how people would."""


class Parser(argparse.ArgumentParser):
    """argparse with our errors: one sentence, one hint, exit code by error class."""

    def error(self, message: str) -> NoReturn:
        """Raise InvalidRequest instead of printing usage and exiting with 2."""
        for pattern, words in _PLAINER:
            message = re.sub(pattern, words, message)
        hint = f"Run: {self.prog} --help"
        strange = re.fullmatch("there is no (--[a-z-]+) here", message)
        if strange:
            from difflib import get_close_matches  # only where somebody mistyped

            near = get_close_matches(strange[1], self._option_string_actions, n=1)
            hint = f"Did you mean {near[0]}? {hint}" if near else hint
        sentence = message[:1].upper() + message[1:]
        raise InvalidRequest(f"{sentence.rstrip('.')}.", hint=hint)


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal; argparse itself imports shutil for that, at every start."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width())


def _width() -> int:
    try:
        return min(max(os.get_terminal_size().columns - 2, 40), 100)
    except OSError:
        return 80


class Context:
    """The process around a verb: environment, deadline, and the daemon once it is needed."""

    def __init__(self, environ: Mapping[str, str], *, json: bool, seconds: float) -> None:
        self.environ = environ
        self.json = json
        self.deadline = Deadline(seconds)
        self.layout: Layout = layout(environ)
        self._channel: Channel | None = None
        self._credentials: Credentials | None = None

    @property
    def channel(self) -> Channel:
        """The daemon, started if nobody has; verbs that must not start one use `running`."""
        if self._channel is None:
            self._channel = Channel(self.layout, self.environ, self.deadline)
        return self._channel

    def running(self) -> Channel:
        """The daemon if it runs; asking it raises DaemonUnreachable when it does not."""
        self._channel = Channel(self.layout, self.environ, self.deadline, start=False)
        return self._channel

    def credentials(self) -> Credentials:
        """What calls from this folder carry; minted at the first use in a checkout."""
        if self._credentials is None:
            said: list[str] = []
            found = access.credentials(self.channel, working_folder(), self.environ, said.append)
            self._credentials = found
            if said:  # the one thing that is ever said here is that a token was minted
                terminal.notice(said[0])
                self._tell_of_former_place(found.checkout)
            self._announce_former_place(found)  # a hook or the bridge may have been here first
        return self._credentials

    def _tell_of_former_place(self, checkout: Checkout | None) -> None:
        """At a checkout's first use: where one of its name was that is gone, if there was one.

        Here somebody may well be looking. Hooks and the bridge, which nobody watches, do not ask.
        """
        from ..connection import former  # only a first use pays

        before = None if checkout is None else former.by_name(self.channel, checkout)
        if before is not None:
            terminal.notice(before.told())

    def _announce_former_place(self, found: Credentials) -> None:
        if found.root is not None:
            former_note.announce(self.layout, found.root, terminal.notice)

    def ask(
        self, method: str, target: str, body: object = None, *, write: bool = False
    ) -> Document:
        """Ask with this checkout's grant and return the JSON object; writes get a key."""
        key = new_key() if write else None
        raw = None if body is None else encode(body)
        return document(parse(self.send(method, target, raw, key=key).body))

    def send(self, method: str, target: str, body: bytes | None, *, key: str | None) -> Answer:
        """Ask with this checkout's grant and return the answer as it came."""
        return self._granted(Request(method, target, body, key=key), self.channel.ask)

    def follow(self, target: str, hear: Callable[[bytes], None]) -> None:
        """Hand the pieces of an event stream to `hear` until the daemon ends it."""
        self._granted(Request("GET", target), lambda asked: self.channel.follow(asked, hear))

    def _granted(self, request: Request, ask: Callable[[Request], T]) -> T:
        """Ask with this checkout's grant."""
        found = self.credentials()
        request = request._replace(token=found.token, checkout=found.root)
        try:
            return ask(request)
        except GrantElsewhere:
            self._credentials = access.moved(self.channel, found, terminal.notice)
            self._announce_former_place(found)
            return ask(request._replace(token=self._credentials.token))
        except Unauthenticated as error:
            raise access.refused(error, found) from error

    def write(self, method: str, target: str, body: dict[str, object]) -> Document:
        """A write to the namespace it names, else to the one the checkout pins, if any."""

        def ask(name: str | None) -> Document:
            named = body if name is None else {**body, "namespace": name}
            return self.ask(method, target, named, write=True)

        return self.at_home(cast("str | None", body.get("namespace")), ask)

    def at_home(self, named: str | None, ask: Callable[[str | None], Document]) -> Document:
        """Ask about the namespace that is named, else about the one the checkout pins, if any."""
        found = self.credentials()
        pinned = None if named else access.pinned(found)
        if pinned is None:
            return ask(named)
        try:
            return ask(pinned)
        except Unauthenticated:
            raise
        except AccessDenied as error:
            if found.checkout is None:
                raise
            raise access.unconfirmed(pinned, found.checkout) from error

    def own(self, method: str, target: str, body: object = None) -> Document:
        """Ask with the owner's rights and return the JSON object."""
        raw = None if body is None else encode(body)
        return self.channel.call(Request(method, target, raw, owner=True))

    def tell(self, answer: Mapping[str, object], sentence: str) -> int:
        """Print the answer for machines, or the sentence for people; the exit code is 0."""
        if self.json:
            terminal.say(terminal.as_json(answer))
        else:
            terminal.say(terminal.one_line(sentence))
        return 0

    def close(self) -> None:
        """Let go of the daemon."""
        if self._channel is not None:
            self._channel.close()


def common(parser: argparse.ArgumentParser, *, nested: bool = False) -> None:
    """The options every verb has; `nested` for the deeds of a verb, which must not reset them."""
    unset = argparse.SUPPRESS
    parser.add_argument(
        "--json",
        action="store_true",
        default=unset if nested else False,
        help="print JSON for machines",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=unset if nested else VERB_SECONDS,
        metavar="SECONDS",
        help=f"give up after this long (default: {VERB_SECONDS:g})",
    )


class Deeds(Protocol):
    """What argparse returns for the deeds of a verb; its own name for that is private."""

    def add_parser(
        self,
        name: str,
        *,
        help: str,  # noqa: A002 - argparse's name
        description: str,
        epilog: str,
        formatter_class: type[argparse.HelpFormatter],
        allow_abbrev: bool,
    ) -> argparse.ArgumentParser:
        """The parser of one more deed."""
        ...


def deed(deeds: Deeds, name: str, about: str, example: str) -> argparse.ArgumentParser:
    """The parser of one deed of a verb, such as `issue` of `grant`; it needs `common`, nested."""
    return deeds.add_parser(
        name,
        help=about,
        description=f"{about[:1].upper()}{about[1:]}.",
        epilog=f"example:\n  {example}",
        formatter_class=Formatter,
        allow_abbrev=False,
    )


def seconds(value: str) -> float:
    """A positive number of seconds, at most a day."""
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number <= 86_400:
        raise argparse.ArgumentTypeError(f"{value!r} is not a number of seconds")
    return number


def working_folder() -> str:
    """The folder the verb runs in; raises InvalidRequest when it was removed under us."""
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise InvalidRequest(
            "The folder you are in no longer exists.", hint="Change to another folder."
        ) from error


def parser(name: str, verb: Verb) -> Parser:
    """The parser of one verb, common options and example included."""
    built = Parser(
        prog=f"recalld {name}",
        description=verb.summary,
        epilog=f"example:\n  {verb.example}",
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    verb.arguments(built)
    common(built)
    return built
