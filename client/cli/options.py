"""Options that several verbs share, and how their values read."""

from __future__ import annotations

import argparse
import re

from ...auth import namespaces
from ...auth.errors import RecalldError

KINDS = (
    "preference",
    "correction",
    "failure",
    "devops",
    "project-knowledge",
    "solution",
    "note",
    "conversation",
)
"""The kinds a memory can have."""

_ID = re.compile("[0-7][0-9A-HJKMNP-TV-Z]{25}")
_SPAN = re.compile(r"(\d{1,6})([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def namespace(value: str) -> str:
    """A namespace name, checked here so that the mistake is named before anything is sent."""
    try:
        return namespaces.parse(value)
    except RecalldError as error:
        raise argparse.ArgumentTypeError(f"{error.message} {error.hint or ''}".strip()) from error


def importance(value: str) -> float:
    """A number from 0 to 1."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{value!r} is not a number from 0 to 1")
    return number


def identity(value: str) -> str:
    """The id of a memory: a mistake in it is named before anything is sent."""
    if not _ID.fullmatch(value):
        raise argparse.ArgumentTypeError(
            f"{value!r} is not the id of a memory, such as 01JZ5W3V9Q8Y7X6W5V4T3S2R1Q"
        )
    return value


def moment(value: str) -> str:
    """A time as RFC 3339 UTC: a date, a date and time, or how long ago (90m, 36h, 7d, 2w).

    A date without a time is its midnight in the caller's own time zone, and a time without an
    offset is local too: the daemon does not know where its caller sits.
    """
    return _moment(value, direction=-1)


def end(value: str) -> str:
    """A time to come, or in how long (90m, 36h, 7d, 2w), as RFC 3339 UTC."""
    found = _moment(value, direction=1)
    if found <= _moment("0s", direction=1):
        raise argparse.ArgumentTypeError(f"{value!r} is over; say 30d or a day to come")
    return found


def _moment(value: str, *, direction: int) -> str:
    from datetime import UTC, datetime, timedelta  # only where a time is given

    span = _SPAN.fullmatch(value)
    try:
        if span:
            seconds = direction * int(span[1]) * _SECONDS[span[2]]
            found = datetime.now(UTC) + timedelta(seconds=seconds)
        else:
            found = datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(
            f"{value!r} is not a time; say 2026-05-01, 2026-05-01T14:00 or 7d"
        ) from error
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def whole(low: int, high: int) -> Whole:
    """An integer from `low` to `high`, as an argparse type."""
    return Whole(low, high)


class Whole:
    """Reads an integer within bounds."""

    def __init__(self, low: int, high: int) -> None:
        self._low, self._high = low, high

    def __call__(self, value: str) -> int:
        """The integer; raises ArgumentTypeError outside the bounds."""
        try:
            number = int(value)
        except ValueError:
            number = self._low - 1
        if not self._low <= number <= self._high:
            raise argparse.ArgumentTypeError(
                f"{value!r} is not a whole number from {self._low} to {self._high}"
            )
        return number


def filters(parser: argparse.ArgumentParser) -> None:
    """--kind, --tag, --since, --until and --namespace, as recall, search and list take them."""
    parser.add_argument(
        "--kind", action="append", choices=KINDS, metavar="KIND", help=f"only {', '.join(KINDS)}"
    )
    parser.add_argument("--tag", action="append", metavar="TAG", help="only with this tag")
    parser.add_argument(
        "--since", type=moment, metavar="TIME", help="only newer ones (7d, 2026-05-01)"
    )
    parser.add_argument("--until", type=moment, metavar="TIME", help="only older ones")
    parser.add_argument(
        "--namespace", action="append", type=namespace, metavar="NS", help="only this namespace"
    )


def words(parser: argparse.ArgumentParser, name: str, about: str) -> None:
    """A positional that may be one quoted argument or several words."""
    parser.add_argument(name, nargs="+", metavar=name.upper(), help=about)


def present(**values: object) -> dict[str, object]:
    """The fields that were given: None and empty lists are left out."""
    return {name: value for name, value in values.items() if value is not None and value != []}
