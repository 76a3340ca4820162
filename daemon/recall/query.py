"""Query analysis: what the words of a question ask for, before anything is searched.

User text is never query syntax: only words, phrases in quotation marks, names and dates are read
out of it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...auth.errors import BlankQuery
from ...storage.analyser import tokens
from .dates import Period, resolve

# Words that carry no topic. Negations (no, not, never, without, nor) are deliberately absent: "do
# not use tabs" and "use tabs" are different memories.
_STOP = (
    "a an the and or but if then of in on at to for from by with about as into is am are was were"
    " be been being do does did doing have has had having i you he she it we they me him her us"
    " them my your his its our their this that these those what which who whom whose when where"
    " why how can could would should will shall may might must so than too very just there here s"
    " t d ll m re ve"
)
STOP_WORDS = frozenset(_STOP.split())
_PHRASE = re.compile(r'"([^"]{2,200})"|“([^”]{2,200})”|`([^`]{2,200})`')
_ASKS_WHEN = re.compile(
    r"\s*(?:when|how long|which (?:month|year|day|date)|what (?:date|year|month|day|time))\b",
    re.IGNORECASE,
)
_ASKS_COUNT = re.compile(r"\s*how (?:many|much|often|old)\b", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
# A pasted log as a query: beyond this many different words more of them only cost time.
_MOST_TERMS = 64


class Query(NamedTuple):
    """An analysed question.

    `words` are the index tokens to look for, `semantic` the text to embed, `name` the one actor
    it names (lower case) or None, `period` the dates it names in milliseconds or None.
    """

    text: str
    words: tuple[str, ...]
    semantic: str
    phrases: tuple[str, ...]
    name: str | None
    period: Period | None
    asks_when: bool
    asks_count: bool


def analyse(text: str, now_ms: int, actors: frozenset[str] = frozenset()) -> Query:
    """Read a question; `actors` are the lower-case names that speak in the namespaces searched.

    Raises BlankQuery when there is no letter, digit or ideograph to look for.
    """
    every = list(dict.fromkeys(tokens(text)))
    if not every:
        raise BlankQuery(
            "The query has no word to look for.", hint="Ask with at least one word or number."
        )
    names = _named(text, actors)
    spoken = {token for name in names for token in tokens(name)}
    words = [w for w in every if w not in STOP_WORDS and w not in spoken]
    return Query(
        text=text,
        words=tuple((words or every)[:_MOST_TERMS]),
        semantic=_without(text, names),
        phrases=tuple(_phrases(text)),
        name=names[0] if len(names) == 1 else None,
        period=resolve(text, now_ms),
        asks_when=_ASKS_WHEN.match(text) is not None,
        asks_count=_ASKS_COUNT.match(text) is not None,
    )


def _named(text: str, actors: frozenset[str]) -> list[str]:
    """The actors the question names, as whole words."""
    if not actors:
        return []
    lower = text.lower()
    present = [name for name in actors if name in lower]
    return sorted(n for n in present if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", lower))


def _without(text: str, names: list[str]) -> str:
    """The question without the names, which pull a vector towards anything about persons."""
    for name in names:
        text = re.sub(
            rf"(?<!\w){re.escape(name)}(?:['\u2019]s|s['\u2019])?(?!\w)", " ", text, flags=re.I
        )
    return _SPACES.sub(" ", text).strip()


def _phrases(text: str) -> list[str]:
    found = [next(part for part in match if part) for match in _PHRASE.findall(text)]
    return [_SPACES.sub(" ", phrase).strip().casefold() for phrase in found if phrase.strip()]
