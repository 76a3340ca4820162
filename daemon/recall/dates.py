"""Dates in a question: months, years, days and the common relative ones, as a period of time."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

_NAMES = "january february march april may june july august september october november december"
_MONTH = {name: number for number, name in enumerate(_NAMES.split(), 1)}
_ANY_MONTH = _NAMES.replace(" ", "|")
_ISO = re.compile(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b")
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_ANY_MONTH})\b"
    rf"|\b({_ANY_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)"
)
_MONTH_NAME = re.compile(rf"\b({_ANY_MONTH})\b")
# "may" is a month only where it cannot be the verb.
_MAY_MONTH = re.compile(
    r"\bmay\b[ ,]*(?:\d|of\b)"
    r"|\b(?:in|on|of|by|early|late|mid|since|during|\d+(?:st|nd|rd|th)?) ?may\b"
)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_RELATIVE = re.compile(r"\b(today|yesterday|(?:this|last) (?:week|month|year))\b")
_AGO = re.compile(r"\b(\d{1,3}|a|two|three|few) (day|week|month)s? ago\b")
_COUNT = {"a": 1, "two": 2, "three": 3, "few": 3}
_DAYS = {"day": 1, "week": 7, "month": 30}
_MS = 1000


class Period(NamedTuple):
    """From `start` to `end` (milliseconds since 1970, end excluded); or, when the question names
    a month without a year, that `month` of any year and no bounds.

    `exact` is false for a whole year: it says little, so it weighs little.
    """

    start: int
    end: int
    month: int
    exact: bool


def resolve(text: str, now_ms: int) -> Period | None:
    """The period a question names, or None."""
    lower = text.lower()
    return _iso(lower) or _named_month(lower) or _relative(lower, now_ms) or _year(lower)


def _iso(text: str) -> Period | None:
    match = _ISO.search(text)
    if match is None:
        return None
    year, month, day = int(match[1]), int(match[2]), match[3]
    return _day(year, month, int(day)) if day else _month(year, month)


def _named_month(text: str) -> Period | None:
    year = _YEAR.search(text)
    day = _DAY_MONTH.search(text)
    if day is not None and year is not None:
        number, name = (day[1], day[2]) if day[1] else (day[4], day[3])
        found = _day(int(year[1]), _MONTH[name], int(number))
        if found is not None:
            return found
    name = _month_named(text)
    if name is None:
        return None
    return _month(int(year[1]), name) if year else Period(0, 0, name, True)


def _month_named(text: str) -> int | None:
    for name in _MONTH_NAME.findall(text):
        if name != "may" or _MAY_MONTH.search(text):
            return _MONTH[name]
    return None


def _year(text: str) -> Period | None:
    match = _YEAR.search(text)
    if match is None:
        return None
    year = int(match[1])
    return _between(datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC), False)


def _relative(text: str, now_ms: int) -> Period | None:
    today = datetime.fromtimestamp(now_ms / _MS, tz=UTC).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    ago = _AGO.search(text)
    if ago is not None:
        count = _COUNT.get(ago[1]) or int(ago[1])
        width = _DAYS[ago[2]]
        middle = today - timedelta(days=count * width)
        return _between(middle - timedelta(days=width // 2), middle + timedelta(days=width), True)
    match = _RELATIVE.search(text)
    return None if match is None else _named_span(match[1], today)


def _named_span(name: str, today: datetime) -> Period:
    if name == "today":
        return _between(today, today + timedelta(days=1), True)
    if name == "yesterday":
        return _between(today - timedelta(days=1), today, True)
    which, unit = name.split(" ")
    if unit == "week":
        start = today - timedelta(days=today.weekday())
        width = timedelta(days=7)
        return (
            _between(start - width, start, True)
            if which == "last"
            else _between(start, start + width, True)
        )
    year = today.year - (which == "last" and unit == "year")
    if unit == "year":
        return _between(
            datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC), False
        )
    before = today.replace(day=1) - timedelta(days=which == "last")
    return _month(before.year, before.month) or _between(today, today, True)


def _day(year: int, month: int, day: int) -> Period | None:
    try:
        start = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
    return _between(start, start + timedelta(days=1), True)


def _month(year: int, month: int) -> Period | None:
    if not 1 <= month <= 12:
        return None
    start = datetime(year, month, 1, tzinfo=UTC)
    return _between(start, (start + timedelta(days=32)).replace(day=1), True)


def _between(start: datetime, end: datetime, exact: bool) -> Period:
    return Period(int(start.timestamp()) * _MS, int(end.timestamp()) * _MS, 0, exact)
