"""The table as a file: int8 rows, a float32 scale for each, and a note on how to use it."""

import json
from pathlib import Path

import numpy as np

from .teacher import Floats

USE = {
    "tokens": "uncased WordPiece; camelCase split before it",
    "stored text": "sum over distinct tokens of sqrt(count) times row, L2 normalised",
    "query": "sum over tokens of row, L2 normalised",
    "derived from": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)",
}


def load(path: Path) -> Floats:
    """The rows as float32."""
    with np.load(path) as stored:
        rows: Floats = stored["q"].astype(np.float32) * stored["s"].astype(np.float32)
    return rows


def save(path: Path, rows: Floats, **about: object) -> None:
    """Write the rows, rounded to int8."""
    scale = np.abs(rows).max(axis=1, keepdims=True) / np.float32(127)
    scale = np.where(scale == 0, np.float32(1e-9), scale).astype(np.float32)
    rounded = np.round(rows / scale).astype(np.int8)
    meta = json.dumps({**USE, **about}, sort_keys=True)
    np.savez_compressed(path, q=rounded, s=scale, meta=np.array(meta))
