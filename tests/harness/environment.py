"""The environment tests run in: nothing of the developer's own settings leaks into the product."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

FOREIGN_PREFIXES = ("RECALLD_", "XDG_", "PYTHON", "GIT_")
FOREIGN_SUFFIXES = ("_PROXY", "_proxy")
OUR_PREFIX = "RECALLD_TEST_"


def is_foreign(name: str) -> bool:
    """Whether a variable could change what the product does and must go before a test runs."""
    if name.startswith(OUR_PREFIX):
        return False
    return name.startswith(FOREIGN_PREFIXES) or name.endswith(FOREIGN_SUFFIXES)


def clean(home: Path, data: Path) -> dict[str, str]:
    """A login-like environment whose home, data folder and git settings are the test's own."""
    bin_folder = str(Path(sys.executable).parent)
    return {
        "PATH": os.pathsep.join([bin_folder, os.environ.get("PATH", os.defpath)]),
        "HOME": str(home),
        "RECALLD_HOME": str(data),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def rounds(default: int, environ: Mapping[str, str] | None = None) -> int:
    """How often a repeated test repeats: `default`, or `$RECALLD_TEST_ROUNDS`."""
    asked = (os.environ if environ is None else environ).get("RECALLD_TEST_ROUNDS", "")
    return int(asked) if asked else default
