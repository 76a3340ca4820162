"""Where the sqlite-vec extension lies, found without importing the package around it.

Importing `sqlite_vec` pulls in the standard library's sqlite3: a second SQLite in this process,
whose closing of the file would drop our locks, and 250 ms of start-up.
"""

from __future__ import annotations

import importlib.util
import os

import apsw

_NAMES = ("vec0.so", "vec0.dylib", "vec0.dll")


def locate() -> str | None:
    """Path of the extension file, or None when the package is not installed."""
    spec = importlib.util.find_spec("sqlite_vec")
    folders = spec.submodule_search_locations if spec is not None else None
    candidates = [os.path.join(folder, name) for folder in folders or [] for name in _NAMES]
    return next((path for path in candidates if os.path.isfile(path)), None)


def load(connection: apsw.Connection) -> bool:
    """Load vector search into the connection; False when it is missing or refuses to load.

    Text search works without it, so a broken extension is no reason not to start.
    """
    path = locate()
    if path is None:
        return False
    try:
        connection.enable_load_extension(True)
        connection.load_extension(path)
    except (apsw.Error, AttributeError):
        return False
    finally:
        connection.enable_load_extension(False)
    return True
