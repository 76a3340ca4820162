"""The judged questions: what is learned from, and what is only looked at."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from tests.bench.judged import Item, Judged, Question, read
from tests.bench.retrieval import DATA, PARAPHRASE, SETS

LEARNED = ("longmemeval", "entire-sessions", "beam", "cosqa", "notes")
"""Conversations with an assistant, coding sessions, code search, and notes of our own. LOCOMO may
be used for evaluation only, and cacm and our paraphrases are kept apart to see what is new."""
FOLDS = 5
_NOTES = Path(__file__).parent / "notes.jsonl"
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


def fold(judged: Judged, question: Question) -> int:
    """The part of its set a question is in: all of one conversation of beam are in the same."""
    together = question.namespace if judged.name == "beam" else question.id
    return zlib.crc32(together.encode()) % FOLDS


def _notes() -> Judged:
    """Notes as developers and agents store them, each with two questions it answers best."""
    items: list[Item] = []
    questions: list[Question] = []
    for number, line in enumerate(_NOTES.read_text().splitlines()):
        entry = json.loads(line)
        answer = f"note-{number}"
        items.append(Item(_NAMESPACE, entry["note"], answer, "", None, None, None))
        for at, text in enumerate(entry["asks"]):
            asked = Question(f"{answer}/{at}", _NAMESPACE, text, frozenset({answer}), "")
            questions.append(asked)
    return Judged("notes", items, questions)
