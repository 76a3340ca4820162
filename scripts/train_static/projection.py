"""The axes along which word pieces differ most in what they mean, of the teacher's 384.

Principal components, without centring, of every piece's state in our own notes and questions: what
is left out is what hardly ever tells two pieces apart. Needs nothing that is downloaded.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from recalld.daemon.embed.shipped.minilm import MiniLm
from recalld.daemon.embed.shipped.projection import FROM, TO

from .places import Places


def project(places: Places) -> None:
    """Write the axes, half precision, those that matter most first."""
    reader, square, pieces = MiniLm(), np.zeros((FROM, FROM), np.float32), 0
    for text in _texts(places.notes):
        _, states = reader.read(text)
        if states is not None:
            square += states.T @ states
            pieces += len(states)
    values, axes = np.linalg.eigh(square)
    np.save(places.projection, axes[:, ::-1][:, :TO].astype(np.float16))
    kept = float(values[::-1][:TO].sum() / values.sum())
    print(f"{pieces} pieces, {TO} axes hold {kept:.3f} of their squares")


def _texts(notes: Path) -> Iterator[str]:
    for line in notes.read_text().splitlines():
        entry = json.loads(line)
        yield from (entry["note"], *entry["asks"])
