"""What a provider answered, made into vectors or refused: nothing dubious reaches the store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..protocol import VectorsUnavailable

if TYPE_CHECKING:
    from ..protocol import Vectors


def decoded(raw: bytes, who: str) -> dict[str, object]:
    """The JSON object in an answer. Raises VectorsUnavailable."""
    try:
        answer: object = json.loads(raw)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise VectorsUnavailable(f"{who} did not answer with a JSON object.")
    return answer  # pyright: ignore[reportUnknownVariableType]  # an object's keys are strings


def unit_vectors(lists: object, count: int, dimension: int, who: str) -> Vectors:
    """Lists of numbers as rows of length 1, shape (count, dimension); `dimension` 0 takes any.

    Raises VectorsUnavailable for too few, for another dimension, and for what is no number.
    """
    import numpy as np

    try:
        found = np.array(lists, dtype=np.float32)
    except (TypeError, ValueError):
        raise VectorsUnavailable(f"{who} answered with something that is no vector.") from None
    if found.ndim != 2 or len(found) != count:
        got = len(found) if found.ndim == 2 else 0
        raise VectorsUnavailable(f"{who} answered with {got} vectors for {count} texts.")
    if found.shape[1] != (dimension or found.shape[1]) or not found.shape[1]:
        raise VectorsUnavailable(
            f"{who} answered with {found.shape[1]} numbers a vector instead of {dimension}."
        )
    if not np.isfinite(found).all():
        raise VectorsUnavailable(f"{who} answered with numbers that are none (NaN or infinity).")
    largest = np.abs(found).max(axis=1, keepdims=True)
    found /= np.where(largest > 0, largest, 1)  # the squares of huge numbers would overflow
    lengths = np.sqrt(np.square(found).sum(axis=1, keepdims=True))
    unit: Vectors = (found / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit
