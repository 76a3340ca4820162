"""A file of the package that is damaged: what it is for is missing, everything else works."""

from __future__ import annotations

import json
from pathlib import Path

from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.installations import Installation


def test_without_the_trees_of_the_second_ranking(
    recalld: Cli, any_daemon: Daemon, tmp_path: Path
) -> None:
    """Recall answers by the first ranking; the answer, status and doctor say so."""
    damaged = Installation(tmp_path, "0.1.0", (1, 1))
    (damaged.root / "site/recalld/daemon/recall/weights/rerank.npz").write_bytes(b"PK\x03\x04")
    assert damaged.run(recalld, "store", "The deploy key is rotated in March").returncode == 0
    found = json.loads(damaged.run(recalld, "recall", "deploy key", "--json").stdout)
    assert [hit["content"] for hit in found["hits"]] == ["The deploy key is rotated in March"]
    assert "ranking_unavailable" in found["degraded"]
    assert any_daemon.owner().get("/v1/status").json["ranking"] == "unavailable"
    checks = json.loads(damaged.run(recalld, "doctor", "--json").stdout)["checks"]
    (ranking,) = (check for check in checks if check["name"] == "ranking")
    assert (ranking["state"], ranking["fix"]) == ("warning", "Install recalld anew.")
