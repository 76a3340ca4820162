"""Light priors: the dates a question names, and what is known of a memory apart from its text."""

from __future__ import annotations

import numpy as np

from .arrays import Floats, Longs
from .candidates import Candidates
from .dates import Period
from .shelf import CONVERSATION

DATE = 0.5
"""Weight of lying in the period the question names."""
IMPORTANCE = 0.1
"""Weight of the distance of a note's importance from the ordinary 0.5, at most 0.05 either way:
enough to order equals in the first ranking, too little to lift what does not answer."""
AGE = 0.05
"""Weight of being new: halves with every `HALF_LIFE`."""
HALF_LIFE = 90 * 86_400_000
_MONTH = 30 * 86_400_000
_JUST_AFTER = 0.4
_WHOLE_YEAR = 0.3


def priors(found: Candidates, period: Period | None, now_ms: int) -> dict[str, Floats]:
    """Contributions of dates, importance and age, by name."""
    note = (found.kind != CONVERSATION).astype(np.float32)
    age = np.maximum(now_ms - found.at, 0).astype(np.float32) / np.float32(HALF_LIFE)
    signals = {
        "importance": IMPORTANCE * note * (found.importance - np.float32(0.5)),
        "age": AGE * note * np.exp2(-age),
    }
    if period is not None:
        signals["date"] = DATE * in_period(found.at, period)
    return signals


def in_period(at: Longs, period: Period) -> Floats:
    """1 inside an exact period, 0.4 within a month after it (people tell later), 0.3 in a year."""
    if period.month:
        months = at.astype("datetime64[ms]").astype("datetime64[M]").astype(np.int64) % 12 + 1
        inside, after = months == period.month, months == period.month % 12 + 1
        return np.where(inside, 1, np.where(after, _JUST_AFTER, 0)).astype(np.float32)
    inside = (at >= period.start) & (at < period.end)
    if not period.exact:
        return np.where(inside, _WHOLE_YEAR, 0).astype(np.float32)
    after = (at >= period.end) & (at < period.end + _MONTH)
    return np.where(inside, 1, np.where(after, _JUST_AFTER, 0)).astype(np.float32)
