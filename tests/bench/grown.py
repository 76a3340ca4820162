"""Large stores for benchmarks, filled through the storage layer and kept from run to run."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from recalld.auth import keys, paths
from recalld.daemon.embed.background.quantisation import to_int8
from recalld.daemon.embed.shipped.alignment import Alignment
from recalld.daemon.embed.shipped.layered import Layered
from recalld.daemon.embed.shipped.minilm import MiniLm
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.storage import vectors
from recalld.storage.drafts import Draft, insert
from recalld.storage.engine import Store
from recalld.storage.transaction import Transaction
from recalld.storage.vectors import Item, Space

from tests.bench.corpus import texts

BATCH = 500
"""Rows a transaction; namespaces take turns with whole ones, as sessions of a day would."""
FORMAT = 2
"""Part of the folder's name: raise it when stores built before no longer fit."""
EMBEDDER = Layered(StaticEmbedder(), MiniLm(), Alignment())
"""The default one. Its notes are taken to have been read: that changes numbers, not times."""


class Size(NamedTuple):
    """How large a store is."""

    rows: int
    namespaces: int

    def names(self) -> list[str]:
        """Its namespaces."""
        return [f"project:grown-{number:08x}" for number in range(1, self.namespaces + 1)]

    def __str__(self) -> str:
        return f"{self.rows:,} in {self.namespaces}"


def folder() -> Path:
    """Where the stores are kept; delete it to have them built anew."""
    chosen = os.environ.get("RECALLD_TEST_GROWN")
    return Path(chosen or tempfile.gettempdir()) / f"recalld-grown-{FORMAT}"


def grown(size: Size) -> Path:
    """A data folder with so many rows, all with vectors; built unless it is there already."""
    ready = folder() / f"{size.rows}-{size.namespaces}-{StaticEmbedder.space}"
    if ready.exists():
        return ready
    begun = time.perf_counter()
    building = ready.with_name(f"{ready.name}.{os.getpid()}")
    building.mkdir(mode=0o700, parents=True)
    _build(size, building)
    building.rename(ready)
    print(f"  built {size} in {time.perf_counter() - begun:.0f} s", flush=True)
    return ready


def _build(size: Size, data: Path) -> None:
    layout = paths.layout({"RECALLD_HOME": str(data)})
    store = Store.open(layout.db, signer=keys.load_or_create(layout.signing_key).sign)
    EMBEDDER.load()
    try:
        space = store.writer.submit(_space).result()
        waiting = None
        for name, told in _batches(size):
            made = to_int8(EMBEDDER.documents(told))
            if waiting is not None:
                waiting.result()
            job = partial(_put, space=space, name=name, told=told, made=made.tobytes())
            waiting = store.writer.submit(job)
        if waiting is not None:
            waiting.result()
        store.writer.submit(partial(vectors.set_complete, space=space)).result()
    finally:
        store.close()


def _batches(size: Size) -> Iterator[tuple[str, list[str]]]:
    """Namespaces with the texts they take in next."""
    told = texts(size.rows)
    names = itertools.cycle(size.names())
    each = min(BATCH, -(-size.rows // size.namespaces))
    while batch := list(itertools.islice(told, each)):
        yield next(names), batch


def _space(tx: Transaction) -> Space:
    return vectors.ensure_space(
        tx, EMBEDDER.space, EMBEDDER.model, EMBEDDER.dimension, EMBEDDER.prefix
    )


def _put(tx: Transaction, space: Space, name: str, told: Sequence[str], made: bytes) -> None:
    """Store texts and, in the same transaction, their vectors."""
    dim = space.dim
    items: list[Item] = []
    for at, text in enumerate(told):
        stored = insert(tx, Draft(name, text), by="bench")
        rid = tx.changes[-1].rid
        items.append(Item(rid, stored.ulid, 1, made[at * dim : (at + 1) * dim]))
    vectors.put(tx, space, items)
