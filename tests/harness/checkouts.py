"""Git checkouts for tests."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path


class Checkouts:
    """Makes checkouts below `base`, with git told nothing about the developer's settings."""

    def __init__(self, base: Path, env: Mapping[str, str]) -> None:
        self.base = base
        self.env = dict(env)

    def __call__(self, name: str = "project") -> Path:
        """A new git checkout with one commit; the same name gives the same checkout."""
        root = self.base / name
        if not root.exists():
            root.mkdir(parents=True)
            self.git(root, "init", "--quiet", "--initial-branch=main")
            self.git(root, "commit", "--quiet", "--allow-empty", "--message=Start")
        return root

    def git(self, folder: Path, *args: str) -> str:
        """Run git in `folder` and return what it printed."""
        name = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
        done = subprocess.run(
            ["git", *name, *args],
            cwd=folder,
            env=self.env,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return done.stdout
