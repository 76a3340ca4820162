"""What the second ranking is taught, and what it must not have seen."""

from __future__ import annotations

import json
import re

from tests.bench.judged import Judged, Question
from tests.bench.retrieval import PARAPHRASE
from tests.bench.taught import FOLDS, NOTES, folds

NEAR = 0.6
"""Of the words of the shorter of two notes; then both are of the same matter."""


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"[a-z0-9]{3,}", text.lower())} - {"and", "the", "are"}


def test_the_paraphrases_are_held_out() -> None:
    """No note that is taught is a near twin of one that is only looked at."""
    held_out = [
        _stems(json.loads(line)["text"])
        for line in (PARAPHRASE / "paraphrase.docs.jsonl").read_text().splitlines()
    ]
    for line in NOTES.read_text().splitlines():
        note = json.loads(line)["note"]
        mine = _stems(note)
        near = max(len(mine & other) / min(len(mine), len(other)) for other in held_out)
        assert near < NEAR, note


def test_questions_with_an_answer_in_common_stay_together() -> None:
    """Trees are never judged by a question whose answer they were taught with another."""
    asked = [("a", "12"), ("b", "23"), ("c", "34"), ("d", "5"), ("e", "5"), ("f", "")]
    questions = [Question(name, "project:x", "?", frozenset(gold), "") for name, gold in asked]
    parts = folds(Judged("set", [], questions))
    assert parts["a"] == parts["b"] == parts["c"]
    assert parts["d"] == parts["e"]
    assert set(parts.values()) <= set(range(FOLDS))


def test_parts_are_of_about_one_size() -> None:
    """Two thousand questions about a thousand notes spread over all parts."""
    questions = [
        Question(f"{n}", "project:x", "?", frozenset({f"note-{n // 2}"}), "") for n in range(2000)
    ]
    parts = list(folds(Judged("set", [], questions)).values())
    assert all(300 < parts.count(part) < 500 for part in range(FOLDS))
