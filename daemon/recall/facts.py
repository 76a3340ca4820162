"""What a conversation turn says about itself: asks, dates, numbers, length.

Small, cheap signals that help to tell an answer from a question about the same thing. Their
patterns and scales come from the retrieval study and are the same for every data set.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weekend|weeks?|months?|years?|days?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|recently|since|soon|morning|evening|night"
    rf"|summer|winter|spring|fall|\d{{4}}|\d+(?:st|nd|rd|th)?|{_MONTHS})\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|several|couple|first"
    r"|second|third)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
# What a turn is about is said early; longer ones are pasted files.
_LOOKED_AT = 2000


class Facts(NamedTuple):
    """Signals of one text, each about 0 to 1, `length` about -2 to 2."""

    time_words: float
    has_number: float
    questions: float
    length: float


NOTHING = Facts(0.0, 0.0, 0.0, 0.0)


def facts_of(text: str, words: int) -> Facts:
    """The facts of a turn of `words` index tokens."""
    head = text[:_LOOKED_AT]
    return Facts(
        time_words=min(2, len(_TIME.findall(head))) / 2,
        has_number=float(_NUMBER.search(head) is not None),
        questions=_question_share(head),
        length=_length_score(words),
    )


def _question_share(text: str) -> float:
    if "?" not in text:
        return 0.0
    sentences = _SENTENCE.split(text.strip())
    asking = [sentence for sentence in sentences if sentence.endswith("?")]
    return len(asking) / len(sentences)


def _length_score(words: int) -> float:
    # Centre and spread of log length over conversation turns: e^2.9 = 18 tokens, stop words
    # included, is the average turn.
    return max(-2.0, min(2.0, (math.log1p(words) - 2.9) / 0.6))
