"""The alignment moved towards what engineers mean: a note near the question it answers.

Taught with our own notes and, of their questions, those in other words: each question is to be
nearer to its note than to any other (InfoNCE: van den Oord et al., arXiv:1807.03748). Only 50 small
steps from the regression: twice as many win as much on such questions and begin to lose on code
search. The table and MiniLM are those that are shipped.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from recalld.daemon.embed.shipped.layered import NOTES
from recalld.daemon.embed.shipped.minilm import MiniLm
from recalld.daemon.embed.shipped.static import StaticEmbedder

from .alignment import with_constant
from .places import Places
from .teacher import Floats, unit

STEPS, RATE, AT_ONCE = 50, 2e-4, 256
TEMPERATURE = 0.05
STAY = 0.01  # how much leaving the regression costs
TABLE = 0.5  # what questions as the table reads them count: they ask the same vectors
FOLDS = 5
Numbers = npt.NDArray[np.intp]


class Pairs(NamedTuple):
    """Notes and questions as MiniLM reads them (with a constant) and as the table has them."""

    notes: Floats
    notes_by_table: Floats
    questions: Floats
    questions_by_table: Floats

    def part(self, chosen: Numbers) -> "Pairs":
        """Some of the notes with their questions."""
        return Pairs(*(one[chosen] for one in self))


def tune(places: Places) -> None:
    """Write the tuned alignment, and say what it does for notes it was not taught with."""
    start = np.load(places.alignment).astype(np.float32)
    pairs = _pairs(places.notes)
    part = np.arange(len(pairs.notes)) % FOLDS
    before, after = np.zeros(len(part), np.bool_), np.zeros(len(part), np.bool_)
    for left_out in range(FOLDS):
        mine = part == left_out
        tuned = tuned_from(start, pairs.part(np.flatnonzero(~mine)))
        before[mine], after[mine] = _found(start, pairs, mine), _found(tuned, pairs, mine)
    print(f"notes not taught: hit@5 {before.mean():.3f} before, {after.mean():.3f} after")
    np.save(places.tuned, tuned_from(start, pairs).astype(np.float16))


def tuned_from(start: Floats, pairs: Pairs) -> Floats:
    """The map after all steps (Adam: Kingma and Ba, arXiv:1412.6980)."""
    random = np.random.default_rng(0)
    turned, mean, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for step in range(1, STEPS + 1):
        chosen = random.choice(len(pairs.notes), min(AT_ONCE, len(pairs.notes)), replace=False)
        slope = _slope(turned, pairs, chosen) + np.float32(STAY) * (turned - start)
        mean += np.float32(0.1) * (slope - mean)
        square += np.float32(0.01) * (slope**2 - square)
        size = np.sqrt(square / np.float32(1 - 0.99**step)) + np.float32(1e-8)
        turned = turned - np.float32(RATE / (1 - 0.9**step)) * mean / size
    return turned


def _slope(turned: Floats, pairs: Pairs, chosen: Numbers) -> Floats:
    """Where the loss of the chosen questions grows: one row a number of MiniLM's."""
    read, read_length = _scaled(pairs.notes @ turned)
    mixed = np.float32(NOTES) * read + np.float32(1 - NOTES) * pairs.notes_by_table
    notes, notes_length = _scaled(mixed)
    asked, asked_length = _scaled(pairs.questions[chosen] @ turned)
    by_table = pairs.questions_by_table[chosen]
    surprise = _surprise(asked, notes, chosen)
    of_notes = surprise.T @ asked
    of_notes += np.float32(TABLE) * (_surprise(by_table, notes, chosen).T @ by_table)
    of_mixed = np.float32(NOTES) * _unscaled(of_notes, notes, notes_length)
    of_read = _unscaled(of_mixed, read, read_length)
    of_asked = _unscaled(surprise @ notes, asked, asked_length)
    slope: Floats = pairs.questions[chosen].T @ of_asked + pairs.notes.T @ of_read
    return slope


def _surprise(asked: Floats, notes: Floats, right: Numbers) -> Floats:
    """How far each question's softmax over all notes is from its own note."""
    scores = asked @ notes.T / np.float32(TEMPERATURE)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.arange(len(right)), right] -= 1
    far: Floats = shares / np.float32(len(right) * TEMPERATURE)
    return far


def _scaled(vectors: Floats) -> tuple[Floats, Floats]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths, lengths


def _unscaled(slope: Floats, scaled: Floats, lengths: Floats) -> Floats:
    """A slope before the scaling to length one."""
    along: Floats = (slope * scaled).sum(axis=1, keepdims=True)
    return ((slope - along * scaled) / lengths).astype(np.float32)


def _found(turned: Floats, pairs: Pairs, asked: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which of the questions have their note among the first five of all."""
    read = unit(pairs.notes @ turned)
    notes = unit(np.float32(NOTES) * read + np.float32(1 - NOTES) * pairs.notes_by_table)
    scores = unit(pairs.questions[asked] @ turned) @ notes.T
    own = scores[np.arange(len(scores)), np.flatnonzero(asked)]
    found: npt.NDArray[np.bool_] = (scores > own[:, None]).sum(axis=1) < 5
    return found


def _pairs(file: Path) -> Pairs:
    reader, table = MiniLm(), StaticEmbedder()
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    notes, asks = [entry["note"] for entry in entries], [entry["asks"][1] for entry in entries]
    return Pairs(
        with_constant(reader.documents(notes)),
        table.documents(notes),
        with_constant(reader.documents(asks)),
        np.stack([table.query(text) for text in asks]),
    )
