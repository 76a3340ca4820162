"""How much of what is closest the signs of vectors find, against comparing every vector.

scripts/bench signs                on the texts of all development sets together
scripts/bench signs --repeat 30    the same among 30 noisy copies, as in a namespace of a million
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import numpy.typing as npt
from recalld.daemon.embed.background.quantisation import to_int8
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.daemon.recall import signatures
from recalld.daemon.recall.signatures import Signatures
from recalld.storage.vectors import CHUNK_ROWS

from tests.bench.judged import read
from tests.bench.retrieval import DATA, SETS

CANDIDATES = (256, 512, 768, 1024, 1536)
CLOSEST = 10
ASKED = 300


def vectors_of_sets() -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """The stored vectors of all texts, and the vectors of some questions of each set."""
    embedder = StaticEmbedder()
    embedder.load()
    texts: list[str] = []
    questions: list[str] = []
    for name, (docs, queries) in SETS.items():
        judged = read(name, DATA / docs, DATA / queries)
        texts += [item.text for item in judged.items]
        questions += [one.text for one in judged.questions[: ASKED // len(SETS)]]
    rows = to_int8(embedder.documents(texts))
    return rows, np.stack([embedder.query(question) for question in questions])


def with_copies(rows: npt.NDArray[np.int8], copies: int) -> npt.NDArray[np.int8]:
    """The rows and `copies - 1` noisy copies of them: more neighbours, as near as texts alike."""
    dice = np.random.default_rng(5)
    made = [rows]
    for _ in range(copies - 1):
        noise = dice.normal(0, rows.std(), rows.shape)
        made.append(np.clip(rows + noise, -127, 127).astype(np.int8))
    return np.concatenate(made)


def signed(rows: npt.NDArray[np.int8]) -> Signatures:
    """Signatures of the rows, whole chunks of them."""
    whole = len(rows) // CHUNK_ROWS
    return Signatures(rows.shape[1]).with_more(range(whole), rows[: whole * CHUNK_ROWS])


def measure(rows: npt.NDArray[np.int8], questions: npt.NDArray[np.float32], agreeing: int) -> None:
    """Print the share of the truly closest that are among the promising places, and the time."""
    signatures.AGREEING = agreeing  # type: ignore[misc]  # what is measured is this constant
    signs = signed(rows)
    lengths = np.sqrt(np.square(rows.astype(np.float32)).sum(axis=1)).clip(1)
    found: list[float] = []
    spent = 0.0
    for question in questions:
        cosines = (rows @ question) / lengths
        closest = np.argpartition(-cosines, CLOSEST)[:CLOSEST]
        begun = time.thread_time()
        places = signs.promising(question)
        spent += time.thread_time() - begun
        at = {chunk * CHUNK_ROWS + slot for chunk, slot in places}
        found.append(len(at.intersection(closest.tolist())) / CLOSEST)
    mean, each = float(np.mean(found)), spent / len(questions) * 1000
    print(f"  {agreeing:>5} rows read: {mean:.3f} of the {CLOSEST} closest, signs {each:.1f} ms")


def main() -> None:
    """Parse the options and measure."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench signs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--repeat", type=int, default=1, help="this many copies of every vector")
    options = parser.parse_args()
    rows, questions = vectors_of_sets()
    rows = with_copies(rows, options.repeat)
    print(f"signs: {len(rows):,} vectors, {len(questions)} questions\n")
    for agreeing in CANDIDATES:
        measure(rows, questions, agreeing)


if __name__ == "__main__":
    main()
