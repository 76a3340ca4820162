"""Names for the array types that recall passes around."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
"""Scores and features."""
Slots = npt.NDArray[np.int32]
"""Positions in a shelf."""
Longs = npt.NDArray[np.int64]
"""Row ids, and times in milliseconds since 1970."""
Terms = npt.NDArray[np.uint32]
"""Hashes of stemmed words."""
Small = npt.NDArray[np.uint8]
"""Counts and codes below 256."""
Bytes = npt.NDArray[np.int8]
"""Stored vectors."""
Flags = npt.NDArray[np.bool_]
