"""No secret that an agent came across lies in any byte we write, whatever way it took."""

from __future__ import annotations

import re
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.harness import processes
from tests.harness.daemons import Daemon
from tests.harness.waiting import eventually
from tests.hooks.conftest import Hooks
from tests.hooks.scripted import Scripted

# Put together here, so that no scanner finds a key in this file.
_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
PEM = "-----BEGIN " + f"PRIVATE KEY-----\n{_BODY}\n-----END " + "PRIVATE KEY-----"
GITHUB = "gh" + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
ANTHROPIC = "sk-" + "ant-api03-" + "Zx8Kq2Lm5Np7Rt9Vw" * 5 + "AA"
AWS = "AK" + "IAQ7XW3ERTY5UIOP2Z"
IN_URL, IN_HEADER, ASSIGNED, HIDDEN = (
    "Xk29dkLpq81mWv", "q8Zt5nLw3vYx7cRb1mKd9fJh", "Vt61mQz84rYpLc", "project-falcon-4711",
)  # fmt: skip
PLANTED = {
    "a provider's key": f"the key {GITHUB} is",
    "another provider's": f"ANTHROPIC_API_KEY={ANTHROPIC}",
    "a cloud's": f"aws configure set aws_access_key_id {AWS}",
    "a private key": PEM,
    "a password in a URL": f"postgres://app:{IN_URL}@db.internal:5432/app",
    "a header": f"curl -H 'Authorization: Bearer {IN_HEADER}' https://api.internal",
    "an assignment": f"export DB_PASSWORD={ASSIGNED}",
    "what the user hid": f"<private>Bob works on {HIDDEN}</private>",
}
VALUES = (_BODY, GITHUB, ANTHROPIC, AWS, IN_URL, IN_HEADER, ASSIGNED, HIDDEN)


def leaks(*folders: Path) -> list[str]:
    """The files that hold a planted value, a part of one, or one in lower case."""
    parts = {part.lower() for value in VALUES for part in re.findall(r"\w{10,}", value)}
    wanted = re.compile("|".join(map(re.escape, sorted(parts))).encode())
    found: list[str] = []
    for path in (path for folder in folders for path in folder.rglob("*") if path.is_file()):
        found += [f"{path.name}: {hit!r}" for hit in wanted.findall(path.read_bytes().lower())]
    return found


def tell(session: Scripted) -> None:
    """A session in which every planted value occurs in every place a host has for text."""
    for number, secret in enumerate(PLANTED.values()):
        session.prompt(f"Always use number {number} in this repo: {secret}\nNever lose {secret}")
        session.wants(f"step{number} --with '{secret}'")
        session.fails(f"step{number} --with '{secret}'", f"Error: cannot take {secret}")
        session.works(f"other{number} --with '{secret}'", f"printed {secret}")
    session.compacts()
    session.delegates()
    session.stops(f"Half done.\n\nNext steps:\n- rotate {GITHUB} and {ANTHROPIC}\n")
    session.ends()


@contextmanager
def silent(daemon: Daemon) -> Generator[None]:
    """The daemon does not react meanwhile."""
    processes.send(daemon.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        processes.send(daemon.pid, signal.SIGCONT)


def test_no_planted_secret_is_written(hooks: Hooks, daemon: Daemon, data: Path) -> None:
    """Store, WAL, logs, shelves, spool and checkout: none holds a planted secret at any time."""
    checkout = hooks.cwd / ".recalld"
    for host in ("claude-code", "cursor"):
        tell(Scripted(hooks, host))
    assert leaks(data, checkout) == []  # while the WAL is in use
    with silent(daemon):
        tell(Scripted(hooks, "codex"))
        assert hooks.spooled()
        assert leaks(data, checkout) == []
    eventually(lambda: hooks.spooled() == [], within=30)
    kept = hooks.cli.json("list", "--limit", "200")["items"]
    assert any("[redacted:github-token]" in item["content"] for item in kept)
    assert hooks.cli.json("outcomes", "--limit", "200")["outcomes"]
    hooks.cli.ok("stop")
    assert leaks(data, checkout, Path(hooks.cli.env["HOME"])) == []


def test_what_is_written_would_be_found(hooks: Hooks, daemon: Daemon, data: Path) -> None:
    """Somebody who stores a key means it, and the search above does see it."""
    assert daemon.published
    hooks.cli.ok("store", PLANTED["a provider's key"])
    assert leaks(data)
