"""The daemon as a process: one SQLite, few descriptors, bounded logs that keep secrets."""

from __future__ import annotations

import contextlib
import json

from tests.harness import processes
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.http import Http

THREADS = 9
"""Those that open memory.db: the writer, four workers, and four of recall in the background (its
loader, the shelf builder, the backlog, the reading of notes)."""


def exercise(http: Http) -> None:
    """Use every kind of feature once."""
    ident = http.store("exercise the whole product", tags=["all"])
    http.store("another one", kind="solution", importance=0.9)
    http.recall("the whole product", explain=True)
    http.post("/v1/search", {"query": "product"})
    http.call("PATCH", f"/v1/memories/{ident}", {"content": "exercise all of it"})
    http.get(f"/v1/memories/{ident}/history")
    http.call("POST", f"/v1/memories/{ident}/undo")
    http.call("DELETE", f"/v1/memories/{ident}")
    http.post("/v1/memories/batch", {"items": [{"content": f"batch {n}"} for n in range(10)]})
    turns = [{"text": "how do we deploy?", "speaker": "sam"}, {"text": "with make ship"}]
    http.post("/v1/conversations", {"session": "s", "turns": turns})
    http.get("/v1/stats")
    http.get("/v1/status")


def test_one_sqlite_is_loaded(daemon: Daemon, http: Http) -> None:
    """After every feature was used the daemon has mapped a single SQLite library."""
    exercise(http)
    maps = (processes.PROC / str(daemon.pid) / "maps").read_text()
    libraries = {line.split()[-1] for line in maps.splitlines() if ".so" in line}
    assert any("apsw" in name for name in libraries)
    assert [name for name in libraries if "_sqlite3" in name or "libsqlite3" in name] == []


def test_few_connections_open_the_store(daemon: Daemon, http: Http) -> None:
    """However much is asked, memory.db is opened by the writer and one reader a thread."""
    for _ in range(10):
        exercise(http)
    store = str(daemon.data / "memory.db")
    opened = [target for target in processes.open_files(daemon.pid).values() if target == store]
    # Readers open with their thread's first job, so how many there are by now is chance; one more
    # may be a look at the file's header.
    assert 1 < len(opened) <= THREADS + 1


def test_descriptors_do_not_leak(daemon: Daemon, http: Http) -> None:
    """Hundreds of connections later the daemon holds hardly more descriptors than before."""
    exercise(http)
    before = len(processes.open_files(daemon.pid))
    for _ in range(500):
        http.get("/v1/health")
    # Meanwhile the threads in the background may have opened the store, and its WAL with it.
    assert len(processes.open_files(daemon.pid)) <= before + 2 * THREADS


def test_the_daemon_listens_on_loopback_only(daemon: Daemon) -> None:
    """There is one listening socket, on 127.0.0.1."""
    rows = (processes.PROC / str(daemon.pid) / "net" / "tcp").read_text().splitlines()[1:]
    port = f":{daemon.port:04X}"
    listening = [row.split()[1] for row in rows if row.split()[3] == "0A"]
    assert [address for address in listening if address.endswith(port)] == [f"0100007F{port}"]
    six = (processes.PROC / str(daemon.pid) / "net" / "tcp6").read_text()
    assert port not in [row.split()[1][-5:] for row in six.splitlines()[1:]]


def test_logs_hold_no_text_and_no_token(recalld: Cli, daemon: Daemon, http: Http) -> None:
    """Neither memory text, queries nor tokens get into the log, errors included."""
    recalld.ok("store", "codename zeppelin lands at dawn")
    recalld.ok("recall", "zeppelin dawn")
    http.post("/v1/recall", {"query": "zeppelin", "unknown": "zeppelin"})
    http.post("/v1/memories", {"content": "zeppelin", "importance": "zeppelin"})
    http.send(
        "POST",
        "/v1/recall",
        raw=b'{"query": "zeppelin',
        headers={"Content-Type": "application/json"},
    )
    http.as_token("rk_zeppelinzeppelin").get("/v1/stats")
    token = (recalld.cwd / ".recalld" / "token").read_text().strip()
    recalld.ok("stop")
    log = daemon.log()
    assert log
    assert "zeppelin" not in log
    assert token not in log
    assert str(http.token) not in log
    for line in log.splitlines():
        json.loads(line)


def test_polling_is_not_logged(daemon: Daemon, http: Http) -> None:
    """A thousand health checks and failing requests leave the log small."""
    keep = Http(http.port, token=http.token, keep=True)
    before = len(daemon.log())
    with contextlib.closing(keep):
        for _ in range(500):
            keep.get("/v1/health")
            keep.post("/v1/recall", {"query": " "})
    assert len(daemon.log()) - before < 20_000
