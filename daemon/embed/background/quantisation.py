"""Vectors as they are stored: 8-bit integers, each row scaled to its own largest number.

The scale is not kept: only directions are compared, and the reader divides by the length of the
integer row. recall@50 against float32 is .985 to .99 on the study's data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def to_int8(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """Rows of float32 (n, d) as rows of int8; a zero row stays zero."""
    import numpy as np

    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    scale = np.float32(127) / np.where(largest > 0, largest, np.float32(1))
    return np.rint(vectors * scale).astype(np.int8)
