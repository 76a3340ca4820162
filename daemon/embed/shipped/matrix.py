"""A matrix among the shipped weights, read once by whoever needs it first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..protocol import VectorsUnavailable

if TYPE_CHECKING:
    from ..protocol import Vectors

WEIGHTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights")


class Matrix:
    """The file at `path`, if its SHA-256 begins with `digest`; trouble begins with `what` it is.

    The digest is in the name of the vectors' space: other numbers would spoil vectors that stay in
    the store when the file is mended. Safe to share between threads: two may both read it, the
    second result is the same.
    """

    def __init__(self, path: str, digest: str, what: str) -> None:
        self._path, self._digest, self._what = path, digest, what
        self._read: Vectors | None = None

    def __call__(self) -> Vectors:
        """The numbers. Raises VectorsUnavailable."""
        if self._read is None:
            self._read = self._from_disk()
        return self._read

    def _from_disk(self) -> Vectors:
        import hashlib
        import io

        import numpy as np

        try:
            with open(self._path, "rb") as file:
                raw = file.read()
        except OSError as error:
            raise VectorsUnavailable(f"{self._what} is unusable: {error}") from error
        if not hashlib.sha256(raw).hexdigest().startswith(self._digest):
            raise VectorsUnavailable(f"{self._what} is unusable: the file is damaged.")
        stored: Vectors = np.load(io.BytesIO(raw)).astype(np.float32)
        return stored
