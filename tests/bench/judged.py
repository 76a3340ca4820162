"""Judged sets: documents, questions and which documents answer them, in the common JSONL format.

A document line has `id` and `text`, and may have `conv` (its namespace), `speaker`, `role`,
`session`, `batch`, `date`, `title`, `keywords`; one with `turns` is a whole session. A question
line has `id`, `question` and `gold` (document ids), and may have `conv` and `gold_turns`
(`<id>#<turn>`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

Line = dict[str, Any]
_DATES = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%B-%d-%Y")
# Longer texts are refused by the product; nothing in the sets comes near except pasted files.
_LONGEST = 60_000


class Item(NamedTuple):
    """One memory to store; `session` empty means a note. `answers` is what gold names it by."""

    namespace: str
    text: str
    answers: str
    session: str
    speaker: str | None
    role: str | None
    at: str | None


class Question(NamedTuple):
    """One question; `gold` may be empty: then nothing is right and it counts as missed."""

    id: str
    namespace: str
    text: str
    gold: frozenset[str]
    group: str


class Judged(NamedTuple):
    """A set: everything to store, everything to ask."""

    name: str
    items: list[Item]
    questions: list[Question]


def read(name: str, docs: Path, queries: Path, *, pooled: bool = False) -> Judged:
    """Read a set; `pooled` puts all documents into one namespace.

    Left out are questions made to have no answer (abstention, adversarial) and those whose words
    were taken from the document. A question without gold stays only where speakers are known:
    LOCOMO's protocol counts it as missed.
    """
    documents = list(_lines(docs))
    asked = list(_lines(queries))
    by_turn = any(line.get("gold_turns") for line in asked)
    items = [item for line in documents for item in _items(name, line, pooled, by_turn)]
    known = {item.answers for item in items}
    keep_unanswered = any("speaker" in line for line in documents)
    questions = [
        question
        for line in asked
        if _is_fair(line)
        for question in [_question(name, line, known, pooled)]
        if question.gold or keep_unanswered
    ]
    return Judged(name, items, questions)


def _lines(path: Path) -> Iterator[Line]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _items(name: str, line: Line, pooled: bool, by_turn: bool) -> Iterable[Item]:
    namespace = _namespace(name, line, pooled)
    if "turns" in line:
        return _session(namespace, line, by_turn)
    text = _text(line)
    speaker = line.get("speaker")
    is_turn = speaker is not None or line.get("role") is not None
    part = str(line.get("session", line.get("batch", "")))
    session = f"{line.get('conv', '')}/{part}" if is_turn else ""
    if speaker and text.startswith(f"{speaker}: "):
        text = text[len(speaker) + 2 :]
    at = _instant(line.get("date") or line.get("time_anchor")) if is_turn else None
    return [Item(namespace, text, str(line["id"]), session, speaker, line.get("role"), at)]


def _session(namespace: str, line: Line, by_turn: bool) -> Iterator[Item]:
    for number, turn in enumerate(line["turns"]):
        text = str(turn.get("text", turn.get("content", "")))[:_LONGEST]
        if not text.strip() or turn.get("compact_summary"):
            continue
        answers = f"{line['id']}#{number}" if by_turn else str(line["id"])
        at = _instant(turn.get("ts") or line.get("date"))
        yield Item(namespace, text, answers, str(line["id"]), None, turn.get("role"), at)


def _text(line: Line) -> str:
    title = f"{line['title']}. " if line.get("title") else ""
    return f"{title}{line['text']} {line.get('keywords', '')}".strip()[:_LONGEST]


def _question(name: str, line: Line, known: set[str], pooled: bool) -> Question:
    gold = frozenset(str(one) for one in line.get("gold_turns") or line["gold"])
    group = str(line.get("category_name", line.get("category", "")))
    namespace = _namespace(name, line, pooled)
    return Question(str(line["id"]), namespace, line["question"], gold & known, group)


def _is_fair(line: Line) -> bool:
    if line.get("abstention") or line.get("ability") == "abstention":
        return False
    return not (line.get("verbatim_in_raw") or line.get("category_name") == "adversarial")


def _namespace(name: str, line: Line, pooled: bool) -> str:
    part = "" if pooled else str(line.get("conv", ""))
    digest = hashlib.sha256(f"{name}/{part}".encode()).hexdigest()[:8]
    return f"project:bench-{digest}"


def _instant(text: object) -> str | None:
    """RFC 3339 for the ways dates are written in the sets."""
    if not isinstance(text, str):
        return None
    for form in _DATES:
        try:
            at = datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return text if text.endswith("Z") and "T" in text else None
