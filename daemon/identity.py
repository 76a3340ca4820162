"""Who this process is: the instance, its secret, and the record that says where to find it."""

from __future__ import annotations

import os
import secrets
import sys
import time
from typing import NamedTuple

from .. import __version__ as _version  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
from ..auth.record import API, Record, boot_id, host_id

VERSION: str = _version  # pyright: ignore[reportUnknownVariableType]
"""The version of the code this process runs."""


class Identity(NamedTuple):
    """One process of the daemon: `instance` (16 hex) and `secret` (64 hex) are new each time."""

    instance: str
    secret: str
    port: int
    version: str
    managed_by: str
    started_at: str

    @classmethod
    def new(cls, *, port: int, managed_by: str) -> Identity:
        """A fresh identity for a daemon that listens on `port`."""
        return cls(
            instance=secrets.token_hex(8),
            secret=secrets.token_hex(32),
            port=port,
            version=installed_version(),
            managed_by=managed_by,
            started_at=time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
        )

    def record(self) -> Record:
        """What is published about this process."""
        return Record(
            instance=self.instance,
            pid=os.getpid(),
            boot_id=boot_id(),
            host_id=host_id(),
            host="127.0.0.1",
            port=self.port,
            secret=self.secret,
            version=self.version,
            api=API,
            managed_by=self.managed_by,
            started_at=self.started_at,
        )

    def is_stale(self) -> bool:
        """Whether the code on disk is another version than the one running here (an upgrade)."""
        return installed_version() != self.version


def installed_version() -> str:
    """The version in the source as it lies on disk now (importlib.metadata would cost 40 ms)."""
    package = sys.modules[__name__.partition(".")[0]]
    try:
        with open(package.__file__ or "", encoding="utf-8") as source:
            for line in source:
                if line.startswith("__version__"):
                    return line.partition("=")[2].strip().strip("\"'")
    except OSError:
        pass  # being upgraded this very moment
    return VERSION
