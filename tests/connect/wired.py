"""Connecting and disconnecting in this process, as the command does it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from recalld.auth.paths import Layout
from recalld.client.connection.deadline import Deadline
from recalld.client.connectors import connection, hosts
from recalld.client.connectors.connection import Done, Order
from recalld.client.connectors.launch import Launch
from recalld.client.connectors.target import SCOPES, Place, Target, place


class Wired:
    """One home, one checkout, one data folder, one launcher."""

    def __init__(
        self, layout: Layout, environ: Mapping[str, str], root: Path, launcher: str
    ) -> None:
        self.layout = layout
        self.environ = environ
        self.root = root
        self.home = Path(environ["HOME"])
        self.launch = Launch(launcher, "")

    def place(self, scope: str = "user") -> Place:
        """Where settings are looked for."""
        return place(self.environ, str(self.root), scope)

    def targets(self, host: str, scope: str = "user") -> list[Target]:
        """The files of this host."""
        return hosts.load(host).targets(self.place(scope), self.launch)

    def paths(self, host: str, scope: str = "user") -> list[Path]:
        """Where they lie."""
        return [Path(target.path) for target in self.targets(host, scope)]

    def connect(
        self, host: str, scope: str = "user", *, rules: str | None = None, dry: bool = False
    ) -> list[Done]:
        """`recalld connect HOST --scope SCOPE`."""
        order = Order(host, self.place(scope), self.launch, rules)
        return connection.connect(self.layout, order, Deadline(20), dry=dry)

    def disconnect(self, host: str, *scopes: str, dry: bool = False) -> list[Done]:
        """`recalld disconnect HOST`, of all scopes unless some are named."""
        order = Order(host, self.place(), Launch("recalld", ""))
        return connection.disconnect(self.layout, order, scopes or SCOPES, Deadline(20), dry=dry)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, and every folder with None; git's own left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if ".git" not in path.relative_to(folder).parts
    }


def write(path: Path, data: bytes) -> None:
    """A file and the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
