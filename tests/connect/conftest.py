"""Fixtures of the connectors' tests: a home and a checkout to connect in, without processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from recalld.auth.paths import layout

from tests.connect.wired import Wired
from tests.harness.checkouts import Checkouts


@pytest.fixture
def wired(clean_env: dict[str, str], checkout: Checkouts, tmp_path: Path) -> Wired:
    """Connects hosts of the test's own home with a command that exists."""
    launcher = tmp_path / "bin" / "recalld"
    launcher.parent.mkdir()
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    root = Path(os.path.realpath(checkout()))
    return Wired(layout(clean_env), clean_env, root, str(launcher))
