"""A store whose file cannot be opened for reading."""

from __future__ import annotations

from pathlib import Path

from tests.daemon.conftest import Starter


def test_a_reader_that_cannot_open_answers_503(start: Starter, data: Path, tmp_path: Path) -> None:
    """It is the disk's trouble, said as such: neither 500 nor 507."""
    daemon = start(supervise_s=60, workers=4, embedding="none").ready()
    client = daemon.client(tmp_path)
    (data / "memory.db").rename(data / "away.db")
    replies = [client.get("/v1/memories") for _ in range(8)]
    assert (503, "storage_trouble") in {(r.status, r.code) for r in replies if r.status != 200}
    assert {reply.status for reply in replies} <= {200, 503}
    (data / "away.db").rename(data / "memory.db")
