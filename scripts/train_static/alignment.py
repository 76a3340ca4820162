"""What the table would say of a question that the teacher has read: one map between their spaces.

A ridge regression from the teacher's vectors of its texts to the table's own of the same texts.
"""

import numpy as np
from recalld.daemon.embed.shipped.wordpiece import WordPiece

from . import table as tables
from .places import Places
from .teacher import Floats, unit
from .training import Recipe, taught_texts

RIDGE = 10.0  # of 80,000 texts; a tenth or ten times of it makes no difference


def align(places: Places) -> None:
    """Write the map, half precision, its last row the constant."""
    words = WordPiece.read(str(places.vocabulary))
    taught = taught_texts(places, words, Recipe())
    own = unit(taught.bags.sums(tables.load(places.table)))
    turned = fitted(taught.vectors, own)
    np.save(places.alignment, turned.astype(np.float16))
    said = unit(with_constant(taught.vectors) @ turned)
    print(f"mean cosine to the table's own vectors {float((said * own).sum(axis=1).mean()):.3f}")


def fitted(known: Floats, wanted: Floats) -> Floats:
    """The map from `known` (n, k) and a constant to `wanted` (n, m), shape (k + 1, m)."""
    given = with_constant(known)
    square = given.T @ given + np.float32(RIDGE) * np.eye(given.shape[1], dtype=np.float32)
    turned: Floats = np.linalg.solve(square, given.T @ wanted).astype(np.float32)
    return turned


def with_constant(vectors: Floats) -> Floats:
    """The vectors with a last number of one."""
    return np.concatenate([vectors, np.ones((len(vectors), 1), np.float32)], axis=1)
