"""Takes secrets out of text before anything is written: spool files, rows, logs.

`redact` replaces only the secret value by `[redacted:<kind>]` and keeps the key's name, the URL's
user and host, the header's name, so that the sentence stays useful. `strip_private` removes what
the user marked `<private>…</private>`.

Hooks run this before they spool, so it is standard library only, compiles a pattern only when a
literal of it occurs, and takes time linear in the text whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from . import redaction_assignments as assignments
from .redaction_rules import Rule
from .redaction_shapes import IMAGES, RULES
from .redaction_values import credible

_MOST_PASSES = 4
"""A redaction can uncover another, hardly ever twice; more passes would cost more than linear."""


class _Span(NamedTuple):
    start: int
    end: int
    rank: int
    kind: str


def redact(text: str) -> tuple[str, list[str]]:
    """The text with each secret replaced, and the kinds found, sorted, each once.

    Redacting its own answer changes nothing. Left alone on purpose: hashes, UUIDs, references
    (`${VAR}`, `os.environ[…]`), placeholders (`<your-key>`, `xxxx`, `changeme`, whose disclosure
    harms nobody), the providers' documented examples, pictures and lock files.
    """
    kinds: set[str] = set()
    for _ in range(_MOST_PASSES):
        spans = _merged(text)
        if not spans:
            break
        kinds.update(span.kind for span in spans)
        text = _replaced(text, spans)
    return text, sorted(kinds)


def strip_private(text: str) -> str:
    """The text without its `<private>…</private>` parts; nested ones count, case does not.

    An unclosed one reaches to the end: losing too much is the safe mistake.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    depth = position = 0
    for tag in _compiled(_PRIVATE).finditer(text):
        closes = tag.group(1) == "/"
        if depth == 0 and not closes:
            kept.append(text[position : tag.start()])
        if depth > 0 or not closes:
            depth += -1 if closes else 1
            position = tag.end()
    if depth == 0:
        kept.append(text[position:])
    return _without_new_tags("".join(kept))


_PRIVATE = r"(?ai)<[ \t]{0,8}(/?)[ \t]{0,8}private(?:\s[^<>]{0,200})?>"


def _without_new_tags(text: str) -> str:
    """Cut at a tag that appeared because what stood inside it was removed."""
    for tag in _compiled(_PRIVATE).finditer(text):
        if tag.group(1) != "/":
            return text[: tag.start()]
    return text


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _found(text: str) -> Iterator[_Span]:
    lowered = text.lower()
    for rank in _hinted(lowered):
        rule = RULES[rank]
        for start, end in _matches(rule, text):
            yield _Span(start, end, rank, rule.kind)
    for start, end, kind in assignments.find(text, lowered):
        yield _Span(start, end, len(RULES), kind)


@cache
def _hints() -> list[tuple[str, list[tuple[str, int]]]]:
    """The hints with the ranks of their rules, by a character they cannot do without, if any."""
    sorts: dict[str, list[tuple[str, int]]] = {"_": [], "-": [], "": []}
    for rank, rule in enumerate(RULES):
        for hint in rule.hints:
            sorts["_" if "_" in hint else "-" if "-" in hint else ""].append((hint, rank))
    return list(sorts.items())


def _hinted(lowered: str) -> set[int]:
    """The ranks of the rules that may find something; most texts hold no `_` and few hints."""
    return {
        rank
        for needed, hints in _hints()
        if needed in lowered
        for hint, rank in hints
        if hint in lowered
    }


def _matches(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    pattern = _compiled(rule.pattern)
    group = 1 if pattern.groups else 0
    for match in pattern.finditer(text):
        if credible(rule.kind, match.group(group)):
            yield match.span(group)


def _merged(text: str) -> list[_Span]:
    """The found spans without overlaps; of those that touch the same text the first rule's kind."""
    found = sorted(_found(text))
    if not found:
        return []
    pictures = [match.span() for match in _compiled(IMAGES).finditer(text)]
    merged: list[_Span] = []
    picture = 0
    for span in found:
        while picture < len(pictures) and pictures[picture][1] <= span.start:
            picture += 1
        if picture < len(pictures) and pictures[picture][0] < span.end:
            continue
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
            continue
        rank, kind = min((last.rank, last.kind), (span.rank, span.kind))
        merged[-1] = _Span(last.start, max(last.end, span.end), rank, kind)
    return merged


def _replaced(text: str, spans: list[_Span]) -> str:
    parts: list[str] = []
    position = 0
    for span in spans:
        parts += (text[position : span.start], f"[redacted:{span.kind}]")
        position = span.end
    parts.append(text[position:])
    return "".join(parts)
