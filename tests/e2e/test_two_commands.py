"""`scripts/try` and `scripts/test` on a bare machine, and the scripts around them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import processes

SCRIPTS = ("bench", "bootstrap", "check", "test", "try", "uv", "versions")
COPIED = (".src", "auth", "client", "daemon", "deploy", "scripts", "storage")
FILES = ("LICENSE", "README.md", "pyproject.toml", "uv.lock")


@pytest.fixture
def bare_env(home: Path) -> dict[str, str]:
    """An empty home, no uv, nothing but Python and git on PATH."""
    folders = [str(Path(os.path.realpath(sys.executable)).parent), "/usr/bin", "/bin"]
    env = {"PATH": os.pathsep.join(folders), "HOME": str(home), "CI": "true"}
    certificates = {n: v for n, v in os.environ.items() if n.startswith(("SSL_", "PIP_", "UV_IND"))}
    return env | certificates


def run(
    script: Path, env: dict[str, str], *args: str, cwd: str = "/"
) -> subprocess.CompletedProcess[str]:
    """Run a script from another folder, without stdin."""
    return subprocess.run(
        [str(script), *args],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=400,
    )


def test_the_trial_shows_the_main_job(repository: Path, bare_env: dict[str, str]) -> None:
    """`scripts/try` stores, recalls in other words, says where things lie, and cleans up."""
    done = run(repository / "scripts" / "try", bare_env)
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("recalld store", "recalld recall", "Jenkins", "uv tool install", "pipx install"):
        assert words in done.stdout
    scratch = [line.split()[1] for line in done.stdout.splitlines() if "checkout     /" in line]
    assert len(scratch) == 1
    assert not Path(scratch[0]).exists()
    assert processes.daemons_of(Path(scratch[0]).parent / "data") == []
    assert list(Path(bare_env["HOME"]).iterdir()) == []


def test_the_trial_can_be_kept(repository: Path, bare_env: dict[str, str], tmp_path: Path) -> None:
    """`scripts/try --home DIR` leaves the memories and the daemon there."""
    data = tmp_path / "kept"
    env = bare_env | {"TMPDIR": str(tmp_path)}
    done = run(repository / "scripts" / "try", env, "--home", str(data))
    try:
        assert done.returncode == 0, done.stdout + done.stderr
        assert (data / "memory.db").exists()
        assert len(processes.daemons_of(data)) == 1
    finally:
        for pid in processes.daemons_of(data):
            processes.end(pid)


@pytest.mark.slow
@pytest.mark.timeout(500)
def test_a_bare_checkout_sets_itself_up(
    repository: Path, bare_env: dict[str, str], tmp_path: Path
) -> None:
    """A fresh copy, an empty home, no uv and no environment: one command does the main job."""
    if not (repository / ".venv-tools").exists() and not shutil.which("uv"):
        pytest.skip("this environment was not set up by scripts/bootstrap; no index to be expected")
    copy = tmp_path / "a checkout"
    copy.mkdir()
    for name in COPIED:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(repository / name, copy / name, symlinks=True, ignore=ignore)
    for name in FILES:
        shutil.copy(repository / name, copy / name)
    done = run(copy / "scripts" / "try", bare_env)
    if "index reachable" in done.stderr or "Failed to fetch" in done.stderr:
        pytest.skip(f"the package index cannot be reached: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Jenkins" in done.stdout
    again = run(copy / "scripts" / "bootstrap", bare_env | {"PATH": "/usr/bin:/bin"}, "--no-dev")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_a_machine_without_python_is_told_what_to_do(repository: Path, tmp_path: Path) -> None:
    """Without a Python that is new enough the set-up ends in one sentence with a remedy."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "dirname", "cat", "cksum", "sed", "env"):
        (tools / name).symlink_to(shutil.which(name) or "/bin/false")
    fake = tools / "python3"
    fake.write_text("#!/bin/sh\nexit 127\n")
    fake.chmod(0o755)
    copy = tmp_path / "copy"
    (copy / "scripts").mkdir(parents=True)
    for name in ("bootstrap", "uv"):
        shutil.copy(repository / "scripts" / name, copy / "scripts" / name)
    for name in ("pyproject.toml", "uv.lock"):
        shutil.copy(repository / name, copy / name)
    done = run(copy / "scripts" / "bootstrap", {"PATH": str(tools)})
    assert done.returncode == 1
    assert "no Python >= 3.11" in done.stderr
    assert "install" in done.stderr


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_plain_sh(repository: Path, name: str) -> None:
    """Every script is executable, parses as POSIX sh, and stops at the first error."""
    script = repository / "scripts" / name
    assert os.access(script, os.X_OK)
    text = script.read_text()
    assert text.startswith("#!/bin/sh\n")
    assert "\nset -eu\n" in text
    assert subprocess.run(["/bin/sh", "-n", str(script)]).returncode == 0
