"""What a user wants to hold from now on, found in a prompt: the sentence itself, never a summary.

"Never start the tests without docker compose" loses its point with its first word, so nothing is
cut off, turned round or rephrased. Only sentences that say by themselves that they are meant to
last are taken: a rule too many is worse than one to be said again.
"""

from __future__ import annotations

import re
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
_PLACE = r"(?:repo\w*|project|codebase|code base|package|workspace|team)"
# "I always get a timeout" is a report; "we always squash" is a habit. Present tense only.
_HABIT = (
    r"(?:use|want|write|prefer|run|push|deploy|commit|merge|test|format|lint|name|keep|put|review|"
    r"squash|rebase|release|build|install|call|log|add|do|start|ship|tag|mock|import|indent|"
    r"document|allow|accept|create|store|handle|return|throw|raise|declare|export|pin|bump)"
)
_LASTING_START = re.compile(
    rf"(?i)^(?:always|never|by default|prefer\b|remember to|stop using|"
    rf"from now on,? (?!the\b|it\b|there\b|this\b|that\b|my\b|our\b|(?:all )?tests?\b)|"
    rf"(?:in|for) this {_PLACE},? (?:always|never|only|use|do not|don['\u2019]?t|prefer|avoid|run|"
    rf"write|all|every|no\b|"
    rf"(?:we|you|one) (?:always |never |only |do not |don['\u2019]?t )?{_HABIT}\b|"
    rf"the [\w -]{{2,40}} (?:must|should|always|never|only|lives?|goes?|runs?)\b)|"
    rf"(?:whenever|every time)\b.*(?:\b(?:must|should)\b|,\s*(?:please |then )?(?:always|never|"
    rf"do not|don['\u2019]?t|make|ask|read|open|update|check|restart|regenerate|rebuild|"
    rf"{_HABIT})\b)|"
    rf"(?:i|we) (?:always|never|only|strictly) {_HABIT}\b|(?:i|we) prefer\b|"
    rf"(?:we|you|one) (?:must|should|may)(?: (?:always|never|not|only)|n['\u2019]t) "
    rf"(?!have\b|see\b|get\b|need\b|be\b|worry\b)|"
    rf"(?!this\b|its\b|was\b|is\b|does\b)[a-z][\w-]*s (?:must|should|may) (?:always|never|only)\b|"
    rf"(?:make|be) sure (?:to|that|you)\b.*\b(?:always|never)\b|"
    rf"it(?:['\u2019]s| is) (?:very )?(?:important|essential|vital|crucial) (?:that|to)\b.*"
    rf"\b(?:always|never|not)\b)"
)
_LASTING_WORD = re.compile(
    r"(?i)\b(?:from now on|in this (?:repo\w*|project|codebase|code base|workspace)|"
    r"for this (?:repo\w*|project)|any ?more|ever again|ever|every time|by default|in future|"
    r"in the future|in general|going forward|around here)\b"
)
_CHOICE = re.compile(
    rf"(?i)^(?:(?:we |i |you should |let['\u2019]?s )?(?:always )?"
    rf"(?:use|run|call|write|prefer|pick|choose)\s|(?:this|the|our) {_PLACE} (?:uses|runs|is)\s)"
    r".{1,80}?(?:,? (?:and )?not\b|,? never\b|\binstead of\b|\brather than\b|"
    r"\bover (?!again\b|there\b|here\b))"
)
# "Don't use npm, use pnpm" says what to do instead; nothing about this minute does.
_EXCHANGE = re.compile(
    r"(?i)^(?:please )?(?:do not|don['\u2019]?t|never|stop|avoid) (?:use|using|run|running|write|"
    r"writing|call|calling)\s.{1,60}[,;.:\u2014-]\s*(?:but |and |please |just )?"
    r"(?:use|run|write|call|prefer)\b"
)
# Branches and places that are the same tomorrow.
_GUARDED = re.compile(
    r"(?i)^(?:please )?(?:do not|don['\u2019]?t|never) (?:force[- ]?)?(?:push|commit|merge|deploy|"
    r"release|publish)\b.*\b(?:to|on|into) (?:the )?(?:main|master|trunk|prod\w*)\b"
)
_IMPERATIVE_NEGATIVE = re.compile(rf"(?i)^(?:please )?{_NEGATIVE}\b")
_OUR_NEGATIVE = re.compile(r"(?i)^we (?:do not|don['\u2019]?t)\b")
_NEGATION = re.compile(rf"(?i)\b{_NEGATIVE}\b|\bwithout\b|\bnot\b")
_IDLE = re.compile(
    r"(?i)^(?:never ?mind|don['\u2019]?t (?:worry|bother|know|think|understand|see|care|remember)|"
    r"no (?:problem|worries|need)|always (?:fails|happens|returns|gets|shows|the same)|"
    r"never (?:works|worked|happens|happened|returns|ends|seen|used|heard|got|did|had|saw|knew)|"
    r"never (?:was|been|(?!need|feed|embed|seed|exceed|proceed)\w+ed\b)|"
    r"i can['\u2019]?t|we can['\u2019]?t)"
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
_FACT = re.compile(
    r"(?i)^remember[,:]?\s+(?:that\s+)?(?!to\b|always\b|never\b|don|when\b|how\b|what\b|why\b|"
    r"where\b|last\b|the (?:time|day)\b|i\b|we (?:fixed|did|had|saw)\b)"
)
# "No, use the other branch" is about this minute; "no, use tabs" is not.
_DEFINITE = re.compile(
    r"(?i)^(?:we )?(?:use|always)\s+"
    r"(?:(?:the|this|that|these|those|it|port|branch|file|line|my|your)\b|"
    r"\S*[/\\]\S*|\S+\.\w{1,4}\b)"
)
_TOLD_NONE = re.compile(
    r"(?i)^(?:as )?i (?:already )?(?:said|told you)\b[^a-z]*(?:before|that|already)?[,:\s]*no\s+\w+"
)


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
    if any(rule.match(core) for rule in (_LASTING_START, _CHOICE, _EXCHANGE, _GUARDED)):
        return True
    # "Don't touch the tests" may be about this minute; "no, don't use npm" answers what was done.
    told = _IMPERATIVE_NEGATIVE.match(core) or _OUR_NEGATIVE.match(core)
    corrects = bool(_CORRECTS.match(sentence))
    if told and (corrects or _LASTING_WORD.search(core)):
        return True
    if _TOLD_NONE.match(sentence):
        return True
    chooses = re.match(r"(?i)(?:we )?(?:use|always)\b", core) and not _DEFINITE.match(core)
    return corrects and bool(chooses)
