"""A process that writes to a store until it is killed; prints what was acknowledged.

Usage: python victim.py PATH SEED [FILE_SIZE_LIMIT]
Each line is `stored ULID`, `forgotten ULID` or `full`, written after the answer and before the
next job; `forgetting ULID` is written before the attempt.
"""

from __future__ import annotations

import random
import resource
import sys

from recalld.storage import drafts, edits, vectors
from recalld.storage.drafts import Draft
from recalld.storage.engine import Store
from recalld.storage.faults import FullDisk
from recalld.storage.scope import Scope
from recalld.storage.transaction import Transaction
from recalld.storage.vectors import Item, Space

HERE = "project:here-00000000"
DIM = 8


def _embed(tx: Transaction, space: Space) -> None:
    rows = vectors.pending(tx.connection, space, 3)
    vectors.put(tx, space, [Item(*row[:3], bytes([1] * DIM)) for row in rows])


def main() -> None:
    """Write for ever."""
    path, seed = sys.argv[1], int(sys.argv[2])
    if len(sys.argv) > 3:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
    dice = random.Random(seed)
    store = Store.open(path, signer=lambda digest: digest * 2)
    space = store.writer.submit(lambda tx: vectors.ensure_space(tx, "s", "m", DIM)).result()
    print("ready", flush=True)
    known: list[str] = []
    while True:
        store.writer.submit(lambda tx: _embed(tx, space), background=True)
        try:
            if known and dice.random() < 0.3:
                gone = known.pop(dice.randrange(len(known)))
                print(f"forgetting {gone}", flush=True)
                store.writer.submit(
                    lambda tx, u=gone: edits.forget(tx, Scope([HERE]), u, by="g")  # type: ignore[misc]  # u is bound
                ).result()
                print(f"forgotten {gone}", flush=True)
                continue
            draft = Draft(HERE, f"rare{dice.getrandbits(60)} " + "word " * dice.randrange(200))
            stored = store.writer.submit(lambda tx, d=draft: drafts.insert(tx, d, by="g")).result()  # type: ignore[misc]  # d is bound
            known.append(stored.ulid)
            print(f"stored {stored.ulid}", flush=True)
        except FullDisk:
            print("full", flush=True)


if __name__ == "__main__":
    main()
