"""One running daemon of a data folder, seen through its discovery record."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from tests.harness import processes
from tests.harness.http import Http
from tests.harness.jsontypes import JsonObject, decode
from tests.harness.waiting import eventually


class Daemon:
    """The daemon that owns `data`; reads the record anew each time, so it sees successors."""

    def __init__(self, data: Path) -> None:
        self.data = data

    @property
    def record_path(self) -> Path:
        """Where the daemon publishes itself."""
        return self.data / "run" / "daemon.json"

    @property
    def record(self) -> JsonObject:
        """The published record; fails when there is none."""
        return decode(self.record_path.read_bytes())

    @property
    def pid(self) -> int:
        """The process that published the record."""
        return int(self.record["pid"])

    @property
    def port(self) -> int:
        """The port it published."""
        return int(self.record["port"])

    @property
    def secret(self) -> str:
        """The secret it proves itself with, which also opens owner routes."""
        return str(self.record["secret"])

    @property
    def published(self) -> bool:
        """Whether there is a record of a running process."""
        try:
            return processes.exists(self.pid)
        except (OSError, ValueError):
            return False

    def pids(self) -> list[int]:
        """Every running daemon of this data folder, published or not."""
        return processes.daemons_of(self.data)

    def log(self) -> str:
        """The whole current log."""
        found = sorted(self.data.rglob("*.log"))
        return "\n".join(path.read_text(errors="replace") for path in found)

    def http(self, token: str | None = None, *, keep: bool = False) -> Http:
        """A client with `token`, on a daemon that has just proven itself."""
        record = self.record
        client = Http(int(record["port"]), token=token, keep=keep)
        assert client.hello(str(record["secret"]), str(record["instance"]))
        return client

    def owner(self) -> Http:
        """A client with the owner's rights."""
        return Http(self.port, owner=self.secret)

    def grant(self, **fields: object) -> JsonObject:
        """A new grant as the owner issues it: `{"id", "token", "namespaces", …}`."""
        reply = self.owner().post("/v1/grants", fields)
        assert reply.status in {200, 201}, reply
        return reply.json

    def narrow(self, grant: str, namespaces: dict[str, str]) -> None:
        """Let the grant cover exactly these, as an owner who edits `grants.json` would."""
        path, edited = self.data / "grants.json", self.data / "grants.edited"
        document = json.loads(path.read_bytes())
        for entry in document["grants"]:
            if entry["id"] == grant:
                entry["namespaces"] = namespaces
        edited.touch(0o600)
        edited.write_text(json.dumps(document))
        edited.replace(path)

    def kill(self) -> int:
        """Kill -9 what is published now and wait until it is gone; returns its pid."""
        pid = self.pid
        processes.send(pid, signal.SIGKILL)
        eventually(lambda: processes.gone(pid))
        return pid

    def terminate(self, *, within: float = 6.0) -> None:
        """SIGTERM, and insist that the process goes by itself."""
        pid = self.pid
        processes.send(pid, signal.SIGTERM)
        eventually(lambda: processes.gone(pid), within=within)

    def end_all(self) -> None:
        """End every daemon of this data folder, however it stands."""
        pids = set(self.pids())
        if self.published and not processes.PROC.exists():
            pids.add(self.pid)
        for pid in pids:
            processes.end(pid)
