"""Daemons that run under limits of their own."""

from __future__ import annotations

import resource
import subprocess

import pytest

from tests.harness.cli import Cli, program
from tests.harness.daemons import Daemon
from tests.harness.http import Http

FEW_DESCRIPTORS = 128


@pytest.fixture
def limited(recalld: Cli, any_daemon: Daemon) -> Daemon:
    """A daemon that may open 128 files, whatever the machine allows."""
    command = ["/bin/sh", "-c", f'ulimit -n {FEW_DESCRIPTORS}; exec "$@"', "sh", *program()]
    subprocess.run(
        [*command, "start"], cwd=recalld.cwd, env=recalld.env, check=True, capture_output=True
    )
    limits = resource.prlimit(any_daemon.pid, resource.RLIMIT_NOFILE)
    assert limits[0] <= FEW_DESCRIPTORS
    return any_daemon


@pytest.fixture
def recalld_limited(recalld: Cli, limited: Daemon) -> Http:
    """A client of the limited daemon with a grant of its own."""
    return limited.http(limited.grant(checkout=str(recalld.cwd))["token"])
