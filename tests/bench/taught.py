"""The judged questions of the second ranking: what it is taught, and what is only looked at."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator

from tests.bench.judged import Item, Judged, Question, read
from tests.bench.retrieval import DATA, PARAPHRASE, SETS

LEARNED = ("longmemeval", "entire-sessions", "cosqa", "notes")
"""Chats with an assistant, coding sessions, code search, and notes of our own. The others are only
looked at: LOCOMO is licensed for evaluation, BEAM may be shared on under its own licence only, and
of cacm and our paraphrases nobody is to have seen anything."""
FOLDS = 5
NOTES = PARAPHRASE / "notes.jsonl"
_NAMESPACE = "project:notes-1a2b3c4d"


def every() -> Iterator[Judged]:
    """All sets that are at hand, those learned from first."""
    for name in dict.fromkeys([*LEARNED, *SETS, "paraphrase"]):
        if name == "notes":
            yield _notes()
        elif name == "paraphrase":
            yield read(name, *(PARAPHRASE / f"{name}.{k}.jsonl" for k in ("docs", "queries")))
        else:
            yield read(name, *(DATA / path for path in SETS[name]))


def folds(judged: Judged) -> dict[str, int]:
    """The part each question is in, by its id: those with an answer in common are in the same, or
    trees would have been taught the answers of questions they are judged by.
    """
    first: dict[str, str] = {}
    for question in judged.questions:
        roots = {_root(first, answer) for answer in question.gold}
        first.update(dict.fromkeys(roots, min(roots, default="")))
    return {
        question.id: zlib.crc32(_root(first, min(question.gold, default="")).encode()) % FOLDS
        for question in judged.questions
    }


def _root(first: dict[str, str], answer: str) -> str:
    while first.setdefault(answer, answer) != answer:
        answer = first[answer]
    return answer


def _notes() -> Judged:
    """Notes as developers and agents store them, each with two questions it answers best."""
    items: list[Item] = []
    questions: list[Question] = []
    for number, line in enumerate(NOTES.read_text().splitlines()):
        entry = json.loads(line)
        answer = f"note-{number}"
        items.append(Item(_NAMESPACE, entry["note"], answer, "", None, None, None))
        for at, text in enumerate(entry["asks"]):
            asked = Question(f"{answer}/{at}", _NAMESPACE, text, frozenset({answer}), "")
            questions.append(asked)
    return Judged("notes", items, questions)
