"""The teacher: all-MiniLM-L6-v2 in numpy, its vectors for the chosen texts."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .places import Places
from .wordpieces import FIRST, LAST, WordPieces

Floats = npt.NDArray[np.float32]
LAYERS, HEADS, WIDTH = 6, 12, 384
LONGEST = 96  # WordPieces of a text that are read
PART = 2048  # texts between two saves
BATCH_PIECES = 256  # at a time: fits the cache


class Encoder:
    """The transformer, on batches of texts of one length, so that nothing is padded."""

    def __init__(self, weights: Path) -> None:
        self._stored: dict[str, npt.NDArray[np.float32 | np.int8]] = dict(np.load(weights))
        tokens = self._tensor("embeddings.word_embeddings.weight")
        self._tokens = tokens
        kind = self._tensor("embeddings.token_type_embeddings.weight")[0]
        self._places = self._tensor("embeddings.position_embeddings.weight") + kind
        self._norm = self._pair("embeddings.LayerNorm")
        self._layers = [self._layer(f"encoder.layer.{number}.") for number in range(LAYERS)]
        self._stored.clear()

    def _tensor(self, name: str) -> Floats:
        if f"{name}.q" in self._stored:
            scaled = self._stored[f"{name}.q"].astype(np.float32)
            return (scaled * self._stored[f"{name}.s"]).astype(np.float32)
        return self._stored[name].astype(np.float32)

    def _pair(self, name: str) -> tuple[Floats, Floats]:
        return self._tensor(f"{name}.weight"), self._tensor(f"{name}.bias")

    def _dense(self, name: str) -> tuple[Floats, Floats]:
        weight, bias = self._pair(name)
        return np.ascontiguousarray(weight.T), bias

    def _layer(self, name: str) -> dict[str, tuple[Floats, Floats]]:
        inputs = [self._pair(f"{name}attention.self.{part}") for part in ("query", "key", "value")]
        joined = np.concatenate([weight for weight, _ in inputs]).T
        return {
            "inputs": (np.ascontiguousarray(joined), np.concatenate([bias for _, bias in inputs])),
            "attended": self._dense(f"{name}attention.output.dense"),
            "attended norm": self._pair(f"{name}attention.output.LayerNorm"),
            "wide": self._dense(f"{name}intermediate.dense"),
            "narrow": self._dense(f"{name}output.dense"),
            "norm": self._pair(f"{name}output.LayerNorm"),
        }

    def __call__(self, rows: npt.NDArray[np.int64]) -> Floats:
        """One unit vector for each row of WordPieces (texts x length, marks included)."""
        texts, length = rows.shape
        state = _normed(self._tokens[rows] + self._places[:length], self._norm)
        state = state.reshape(texts * length, WIDTH)
        for layer in self._layers:
            attended = _attention(_projected(state, layer["inputs"]), texts, length)
            state = _normed(state + _projected(attended, layer["attended"]), layer["attended norm"])
            wide = _gelu(_projected(state, layer["wide"]))
            state = _normed(state + _projected(wide, layer["narrow"]), layer["norm"])
        mean: Floats = state.reshape(texts, length, WIDTH).mean(axis=1)
        return unit(mean)


def unit(vectors: Floats) -> Floats:
    """The vectors at length one."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    result: Floats = vectors / np.maximum(lengths, np.float32(1e-9))
    return result


def times(values: Floats, factor: float) -> Floats:
    """The values times a number, still in single precision for the type checkers."""
    result: Floats = np.multiply(values, np.float32(factor))
    return result


def _projected(state: Floats, dense: tuple[Floats, Floats]) -> Floats:
    product: Floats = state @ dense[0]
    product += dense[1]
    return product


def _attention(inputs: Floats, texts: int, length: int) -> Floats:
    split = inputs.reshape(texts, length, 3, HEADS, WIDTH // HEADS).transpose(2, 0, 3, 1, 4)
    scores = split[0] @ split[1].swapaxes(-1, -2) / np.float32((WIDTH // HEADS) ** 0.5)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed: Floats = (scores @ split[2]).transpose(0, 2, 1, 3).reshape(texts * length, WIDTH)
    return mixed


def _normed(state: Floats, norm: tuple[Floats, Floats]) -> Floats:
    centred = state - state.mean(axis=-1, keepdims=True)
    spread = np.einsum("...i,...i->...", centred, centred)[..., None] / np.float32(WIDTH)
    centred /= np.sqrt(spread + np.float32(1e-12))
    result: Floats = centred * norm[0] + norm[1]
    return result


def _gelu(state: Floats) -> Floats:
    """Gaussian error linear unit; the error function by Abramowitz and Stegun 7.1.26."""
    size = np.abs(state) * np.float32(0.70710678)
    ratio = 1 / (1 + np.float32(0.3275911) * size)
    tail = np.float32(1.061405429) * ratio - np.float32(1.453152027)
    for constant in (1.421413741, -0.284496736, 0.254829592):
        tail = tail * ratio + np.float32(constant)
    tail *= ratio * np.exp(-size * size)
    result: Floats = state * 0.5 * (1 + np.copysign(1 - tail, state))
    return result


def _batches(pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Positions of texts of equal length, few enough at a time to stay in the cache."""
    order = sorted(range(len(pieces)), key=lambda at: len(pieces[at]))
    batch: list[int] = []
    for at in order:
        length = len(pieces[at])
        if batch and (length != len(pieces[batch[0]]) or (len(batch) + 1) * length > BATCH_PIECES):
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


def encode(encoder: Encoder, wordpieces: WordPieces, texts: Sequence[str]) -> Floats:
    """The teacher's vectors of some texts."""
    pieces = [[FIRST, *wordpieces(text, LONGEST), LAST] for text in texts]
    vectors = np.zeros((len(texts), WIDTH), np.float32)
    for batch in _batches(pieces):
        vectors[batch] = encoder(np.array([pieces[at] for at in batch], np.int64))
    return vectors


def teach(places: Places, minutes: float) -> None:
    """Write the vectors of the chosen texts, as many as the time allows; goes on where it was."""
    texts = places.chosen.read_text(encoding="utf-8").split("\n")
    encoder, wordpieces = Encoder(places.encoder), WordPieces(places.vocabulary)
    done = list[npt.NDArray[np.float16]]()
    if places.teacher.exists():
        done.append(np.load(places.teacher))
    began = time.monotonic()
    while (start := sum(map(len, done))) < len(texts):
        if time.monotonic() - began > minutes * 60:
            break
        vectors = encode(encoder, wordpieces, texts[start : start + PART])
        done.append(vectors.astype(np.float16))
        np.save(places.teacher, np.concatenate(done))
        print(f"{start + len(vectors)} of {len(texts)} texts, {time.monotonic() - began:.0f} s")
