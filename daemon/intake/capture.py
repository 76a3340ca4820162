"""What a user wants to hold from now on, found in a prompt: the sentence itself, never a summary.

"Never start the tests without docker compose" loses its point with its first word, so nothing is
cut off, turned round or rephrased. Only sentences that say by themselves that they are meant to
last are taken: a rule too many is worse than one to be said again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .sentences import sentences

MOST_CAPTURED = 3
"""Of one prompt; more are a document, which has a place of its own."""
_SHORTEST, _LONGEST = 10, 400

_NEGATIVE = (
    r"(?:do not|don['\u2019]?t|never|stop|avoid|no longer|must not|mustn['\u2019]?t|"
    r"should(?: not|n['\u2019]?t)(?: ever)?|cannot|can['\u2019]?t|not to)"
)
_LEAD = re.compile(
    r"(?i)^(?:(?:no|nope|wrong|actually|again|stop(?=[,.!:;])|hey|please|ok|okay|and|also|"
    r"(?:that|this)(?:['\u2019]s| is) (?:wrong|not (?:right|correct|what i (?:asked|said|meant)))|"
    r"(?:as )?i (?:already )?(?:said|told you)(?: (?:before|that|already))?)[,:;.!\s\u2014-]+)+"
)
_CORRECTS = re.compile(
    r"(?i)^(?:no|nope|wrong|actually|again|that(?:['\u2019]s| is) (?:wrong|not)|"
    r"(?:as )?i (?:already )?(?:said|told you))\b"
)
_LASTING_START = re.compile(
    r"(?i)^(?:always|never|from now on|by default|whenever|every time|in this (?:repo\w*|project|"
    r"codebase|code base|package|workspace)|for this (?:repo\w*|project|codebase)|remember|"
    r"(?:i|we) (?:always|never|prefer|only|strictly)|prefer\b|"
    r"(?:we|you|one) (?:must|should|can|may) (?:always|never|not ever|only))"
)
_LASTING_WORD = re.compile(
    r"(?i)\b(?:from now on|in this (?:repo\w*|project|codebase|code base|workspace)|"
    r"for this (?:repo\w*|project)|any ?more|ever again|ever|every time|by default|in future|"
    r"in the future|in general|going forward|around here)\b"
)
_CHOICE = re.compile(
    r"(?i)^(?:we |i |you should |let['\u2019]?s )?(?:always )?"
    r"(?:use|run|call|write|prefer|pick|choose)\s.{1,80}?"
    r"(?:,? (?:and )?not\b|,? never\b|\binstead of\b|\brather than\b|\bover\b)"
)
_IMPERATIVE_NEGATIVE = re.compile(rf"(?i)^(?:please )?{_NEGATIVE}\b")
_NEGATION = re.compile(rf"(?i)\b{_NEGATIVE}\b|\bwithout\b|\bnot\b")
_IDLE = re.compile(
    r"(?i)^(?:never ?mind|don['\u2019]?t (?:worry|bother|know|think|understand|see|care|remember)|"
    r"no (?:problem|worries|need)|always (?:fails|happens|returns|gets|shows|the same)|"
    r"never (?:works|worked|happens|happened|returns|ends|seen|used|heard|got|did)|"
    r"(?:we|i) never (?:had|got|saw|did|knew)|i can['\u2019]?t|we can['\u2019]?t)"
)
_ASKS = re.compile(
    r"(?i)\?\s*$|^(?:why|what|how|when|where|who|which|is|are|was|does|do(?! not)|did|can(?!['n])|"
    r"could|should(?!n)|would|if|unless|maybe|perhaps|suppose|imagine|what if)\b"
)
_ONE_OFF = re.compile(
    r"(?i)\b(?:for now|right now|yet|this time|for the moment|today|just once|temporarily|"
    r"until i|for this (?:task|change|commit|pr|test|once)|in this (?:task|change|commit|pr))\b"
)
_OPERATIONS = re.compile(
    r"(?i)\b(?:deploy\w*|releas(?:e|es|ing)|roll ?(?:out|back)|staging|production|prod|pipelines?|"
    r"ci|docker|kubernetes|k8s|helm|terraform|ports?|migrations?|backups?|servers?|database)\b"
)
_FACT = re.compile(r"(?i)^remember[,:]?\s+(?:that\s+)?(?!to\b|always\b|never\b|don)")


class Captured(NamedTuple):
    """A sentence that shall last, word for word, and the kind of memory it makes."""

    sentence: str
    kind: str


def capture(prompt: str) -> list[Captured]:
    """The sentences of a prompt that are meant to hold from now on; mostly there is none."""
    found: dict[str, Captured] = {}
    for sentence in sentences(prompt):
        kind = _kind(sentence)
        if kind is not None and len(found) < MOST_CAPTURED:
            found.setdefault(sentence.casefold(), Captured(sentence, kind))
    return list(found.values())


def asks_again(prompt: str) -> bool:
    """Whether the user comes back because the last attempt did not do it."""
    return any(_REASK.search(sentence) for sentence in _first(prompt))


def _first(prompt: str) -> Iterator[str]:
    for number, sentence in enumerate(sentences(prompt)):
        if number == _LOOKED_AT:
            return
        yield sentence


_LOOKED_AT = 3
_REASK = re.compile(
    r"(?i)\b(?:still (?:broken|fail(?:s|ing)?|not (?:working|fixed|there|right)|red|happens|"
    r"happening|(?:does|do|is|are)n['\u2019]?t|(?:the )?same|get(?:ting)?|see(?:ing)?|throws|"
    r"crash(?:es|ing)?|wrong)|(?:that|this|it) (?:did|does|has)(?:n['\u2019]?t| not) "
    r"(?:work|help|fix|change|solve)\w*|(?:the )?same (?:error|problem|issue|failure|thing)\b|"
    r"try (?:it |that )?again|(?:is|it['\u2019]s) broken again|not fixed|no change)\b"
)


def _kind(sentence: str) -> str | None:
    """The kind of memory the sentence makes, or None if it is not meant to last."""
    if not _SHORTEST <= len(sentence) <= _LONGEST or sentence.startswith("/"):
        return None
    core = _LEAD.sub("", sentence)
    if _IDLE.match(core) or _ASKS.search(core) or _ONE_OFF.search(core):
        return None
    if _FACT.match(core):
        return "correction" if _IMPERATIVE_NEGATIVE.match(core) else "project-knowledge"
    if not _lasts(sentence, core):
        return None
    corrects = _CORRECTS.match(sentence) or _IMPERATIVE_NEGATIVE.match(core)
    if corrects or (_NEGATION.search(core) and not _CHOICE.match(core)):
        return "correction"
    return "devops" if _OPERATIONS.search(core) else "preference"


def _lasts(sentence: str, core: str) -> bool:
    if _LASTING_START.match(core) or _CHOICE.match(core):
        return True
    # "Don't touch the tests" may be about this minute; "no, don't use npm" answers what was done.
    told = _IMPERATIVE_NEGATIVE.match(core)
    if told and (_CORRECTS.match(sentence) or _LASTING_WORD.search(core)):
        return True
    return bool(_CORRECTS.match(sentence) and re.match(r"(?i)(?:we )?(?:use|always)\b", core))
