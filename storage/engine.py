"""The store: opens memory.db safely, hands out readers, owns the writer, closes in order."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

import apsw

from . import birth, connections, integrity, migrations, place
from . import vectors as vectors_of_rows
from .checkpoints import wal_bytes
from .faults import Damaged, from_sqlite, from_system
from .original import Original
from .reader import Reader
from .writer import Writer


class Store:
    """An open memory.db. Make one with `Store.open`; one per process.

    `has_vectors` is False when the sqlite-vec extension could not be loaded: everything else works.
    """

    def __init__(self, path: str, writer: Writer, original: Original, *, has_vectors: bool) -> None:
        self.path = path
        self.writer = writer
        self.has_vectors = has_vectors
        self._original = original
        self._readers: list[Reader] = []
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls,
        path: str,
        *,
        signer: Callable[[bytes], bytes],
        vectors: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> Store:
        """Open the store, making it first if there is none; bring its schema up to date.

        `path` must be absolute. `signer` signs 32-byte hashes of the history. The caller holds the
        data folder's lock: two processes must not do this at once.
        Raises UnsafePlace, Damaged, NewerSchema, FullDisk or DiskTrouble; then nothing was changed.
        """
        connections.require_sqlite(apsw.sqlite_lib_version())
        place.check(path)
        try:
            birth.ensure(path)
            integrity.probe(path)
            original = Original(path)
            connection, loaded = connections.open_writer(path, vectors=vectors)
            try:
                integrity.quick(connection)  # what is damaged is neither copied nor migrated
                migrations.bring_up_to_date(connection, path)
                integrity.quick(connection)
                if loaded:
                    vectors_of_rows.settle(connection)
            except BaseException:
                connection.close()
                raise
        except apsw.Error as error:
            fault = from_sqlite(error)
            raise (fault or Damaged(f"memory.db cannot be used: {error}.")) from error
        except OSError as error:
            raise from_system(error) from error
        writer = Writer(connection, sign=signer, original=original, clock=clock)
        return cls(path, writer, original, has_vectors=loaded)

    def reader(self) -> Reader:
        """A new reading connection for one thread; the store closes it at the end.

        Raises DiskTrouble or Damaged.
        """
        try:
            reader = Reader(connections.open_reader(self.path, vectors=self.has_vectors))
        except apsw.Error as error:
            raise (from_sqlite(error) or Damaged(f"memory.db cannot be used: {error}.")) from error
        with self._lock:
            self._readers.append(reader)
        return reader

    def check(self) -> None:
        """Raise Damaged if memory.db was replaced, removed or overwritten under the running store.

        SQLite itself would not notice for as long as it has the pages it needs in memory. From
        then on the writer refuses everything: nothing is acknowledged that nobody will find again.
        """
        try:
            self._original.check()
            integrity.header(self.path)
        except Damaged as damage:
            self.writer.condemn(damage)
            raise

    def wal_bytes(self) -> int:
        """Size of the WAL file in bytes."""
        return wal_bytes(self.path + "-wal")

    def close(self) -> None:
        """Finish queued writes, close readers, empty the WAL. Their threads must be done by now."""
        with self._lock:
            readers, self._readers = self._readers, []
        try:
            for reader in readers:
                with contextlib.suppress(apsw.Error):  # a thread that would not end is still in it
                    reader.close()
        finally:
            self.writer.close()
