"""Other versions of the product, installed beside the one under test."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import recalld

from tests.harness.cli import Cli

OUR_API = "API: tuple[int, int] = (1, 1)"


class Installation:
    """A virtual environment with a copy of the product that calls itself `version`."""

    def __init__(self, folder: Path, version: str, api: tuple[int, int]) -> None:
        self.root = folder / f"recalld-{version}"
        self._copy(version, api)
        venv.create(self.root / "venv", with_pip=False, symlinks=True)
        self.python = self.root / "venv" / "bin" / "python"
        packages = next((self.root / "venv").glob("lib/python*/site-packages"))
        dependencies = [path for path in sys.path if path.endswith("site-packages")]
        lines = [str(self.root / "site"), *dependencies]
        (packages / "installation.pth").write_text("".join(f"{line}\n" for line in lines))

    def _copy(self, version: str, api: tuple[int, int]) -> None:
        package = self.root / "site" / "recalld"
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(recalld.__file__).parent, package, ignore=ignore)
        init = package / "__init__.py"
        init.write_text(init.read_text().replace(recalld.__version__, version))
        record = package / "auth" / "record.py"
        text = record.read_text()
        assert OUR_API in text
        record.write_text(text.replace(OUR_API, f"API: tuple[int, int] = {api}"))

    def run(self, cli: Cli, *args: str) -> subprocess.CompletedProcess[str]:
        """Call this version's command where `cli` would call ours."""
        return subprocess.run(
            [str(self.python), "-P", "-m", "recalld", *args],
            cwd=cli.cwd,
            env=cli.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
        )
