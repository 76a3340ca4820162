"""Why a hit is where it is: what every signal added to its score."""

from __future__ import annotations

from collections.abc import Mapping

from .arrays import Floats

_DIGITS = 4
_LEAST = 5e-5


def contributions(signals: Mapping[str, Floats], at: int) -> dict[str, float]:
    """The signals that moved the score of candidate `at`, strongest first; they add up to it."""
    values = {name: float(signal[at]) for name, signal in signals.items()}
    shown = {name: round(value, _DIGITS) for name, value in values.items() if abs(value) >= _LEAST}
    return dict(sorted(shown.items(), key=lambda item: -abs(item[1])))
