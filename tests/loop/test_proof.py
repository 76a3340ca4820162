"""What successes teach and what they do not: reading and looking away have never fixed anything."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.daemon.intake.event import Event
from recalld.daemon.lessons import commands, proof, shell
from recalld.daemon.lessons.attempts import subjects

from tests.loop.agent import Agent

NO_MODULE = "E   ModuleNotFoundError: No module named 'foo'"
READING = [
    "cat tests/test_app.py",
    "head -50 tests/test_app.py",
    "sed -n 1,80p tests/test_app.py",
    "less tests/test_app.py",
    "ls -la tests/test_app.py",
    "git diff tests/test_app.py",
    "git -C sub diff tests/test_app.py",
    "git status tests/test_app.py",
    "git log -3 tests/test_app.py",
    "git show HEAD:tests/test_app.py",
    "git add tests/test_app.py",
    "git blame tests/test_app.py",
    "grep -n foo tests/test_app.py",
    "grep -rn install tests/test_app.py",
    "rg foo tests/test_app.py",
    "find tests -name test_app.py",
    "wc -l tests/test_app.py",
    "echo tests/test_app.py",
    "bash -c 'cat tests/test_app.py'",
    "(cd tests && cat tests/test_app.py)",
    "cat tests/test_app.py && git diff tests/test_app.py",
    "pytest tests/test_app.py; cat tests/test_app.py",
    "vim tests/test_app.py",
    "touchstone tests/test_app.py",
]
# What failed, and a success that only says, checks or minds less.
AROUND = [
    ("git commit -m x", "git commit -m x --no-verify"),
    ("git commit -m x", "git commit -n -m x"),
    ("git commit -m x", "git commit -nm x"),
    ("git commit -m x", "SKIP=lint git commit -m x"),
    ("git commit -m x", "HUSKY=0 git commit -m x"),
    ("git commit -m x", "git -c core.hooksPath=/dev/null commit -m x"),
    ("git push", "git push -f"),
    ("git push", "git push --force"),
    ("npm install", "npm install --force"),
    ("cargo build", "cargo build --help"),
    ("cargo build", "cargo -h build"),
    ("npm test", "npm test --version"),
    ("terraform apply", "terraform apply --dry-run"),
    ("pytest", "pytest --collect-only"),
    ("pytest", "pytest --list"),
    ("pytest", "pytest -k 'not slow'"),
    ("pytest -k slow", "pytest -k fast"),
    ("pytest", "pytest -m fast"),
    ("pytest", "python -m pytest -m fast"),
    ("pytest", "uv run pytest -k fast"),
    ("pytest", "pytest --deselect tests/a.py::b"),
    ("pytest", "pytest --ignore=tests/slow"),
    ("pytest", "pytest --lf"),
    ("npx jest", "npx jest -t parser"),
    ("npm test", "npm test -- -t parser"),
    ("npm test", "npm test -- --testNamePattern=parser"),
    ("dotnet test", "dotnet test --filter Parser"),
    ("npm run lint", "npm run lint -- --only src"),
    ("make check", "make check || true"),
    ("make check", "make check || :"),
    ("make check", "make check || echo failed"),
    ("make check", "make check || exit 0"),
    ("make check", "make check; true"),
    ("make check", "make check; echo $?"),
    ("make check", "make -k check"),
    ("make check", "make check &"),
    ("npm run lint", "npm run lint -- --exit-zero"),
    ("npm test", "npm test -- --passWithNoTests"),
    ("mvn install", "mvn install -DskipTests"),
    ("gradle build", "gradle build -x test"),
    ("npm run build", "npm run build -- --skip-lint"),
    ("deno run a.ts", "deno run --no-check a.ts"),
]
# What failed, and a success that tells how it is done.
REAL = [
    ("npm test", "pnpm test"),
    ("pytest", "python -m pytest -p no:cacheprovider"),
    ("pytest -k slow", "DB_URL=sqlite:// pytest -k slow"),
    ("pytest tests/a.py", "pytest -n 4 tests/a.py"),
    ("git push", "git push -u origin x"),
    ("kubectl apply", "kubectl apply -n web --server-side"),
    ("psql app", "psql -h localhost app"),
    ("pip install psycopg2", "apt-get install -y libpq-dev && pip install psycopg2"),
    ("npm run build", "NODE_OPTIONS=--max-old-space-size=4096 npm run build"),
    ("docker compose up web", "docker compose up web --force-recreate"),
    ("npm test", "cat package.json && npm install && npm test"),
    ("make check", "make check CC=clang || exit 1"),
]


@pytest.mark.parametrize("command", READING)
def test_reading_fixes_nothing(agent: Agent, command: str) -> None:
    """A look at the failing thing neither settles the failure nor is named as what worked."""
    agent.fails("pytest tests/test_app.py", NO_MODULE)
    agent.fails("pytest tests/test_app.py -v", NO_MODULE)
    agent.works(command)
    assert agent.lessons() == []
    assert agent.contents("solution") == []
    failures = [one for one in agent.outcomes()["outcomes"] if one["kind"] == "failure"]
    assert [one["fix"] for one in failures] == [None, None]


def test_reading_is_left_out_of_what_is_named(agent: Agent) -> None:
    """What was looked at before the fix, or in the same line, is no part of it."""
    agent.fails("pytest", NO_MODULE)
    agent.works("grep -rn install pyproject.toml")
    agent.works("git add requirements.txt")
    agent.works("pip install foo")
    agent.works("git status && pytest", "3 passed")
    (lesson,) = agent.lessons()
    assert lesson["fix"] == "pip install foo && pytest"


@pytest.mark.parametrize(("failing", "around"), AROUND)
def test_a_way_around_the_check_is_no_fix(agent: Agent, failing: str, around: str) -> None:
    """However often the check is bypassed, shrunk or forgiven, nothing is learned or settled."""
    for one in (agent, agent.session()):
        one.fails(failing, "error: 3 problems found, lint failed")
        one.works(around)
    assert agent.lessons() == []
    assert agent.contents("failure") == []
    failures = [one for one in agent.outcomes()["outcomes"] if one["kind"] == "failure"]
    assert [one["fix"] for one in failures] == [None, None]


@pytest.mark.parametrize(("failing", "working"), REAL)
def test_a_real_fix_is_still_learned(agent: Agent, failing: str, working: str) -> None:
    """Flags that only look alike, and readers beside the fix, do not spoil it."""
    agent.fails(failing, "error: missing something important")
    agent.works(working)
    (lesson,) = agent.lessons()
    assert lesson["failing"] == failing


WRAPPED = [
    'bash -c "git push origin main"',
    "bash -lc 'cd x && git push origin main'",
    "sh -e -c 'git push origin main'",
    "(git push origin main)",
    "(cd sub && git push origin main)",
    "{ git push origin main; }",
    "echo $(git push origin main)",
    'echo "done: $(git push origin main)"',
    "echo `git push origin main`",
    "diff <(git push origin main) a",
    "if git push origin main; then echo y; fi",
    "if true; then git push origin main; fi",
    "for b in a b; do git push origin main; done",
    "while ! git push origin main; do sleep 1; done",
    "env -u X git push origin main",
    "env A=b git push origin main",
    "git -C sub push origin main",
    "git -c a=b --no-pager push origin main",
    "git --git-dir=x push origin main",
    "echo main | xargs git push origin main",
    "echo main | xargs -n 1 -I{} git push origin main",
    "yes | git push origin main",
    "sudo -u me git push origin main",
    "timeout -k 5 10 git push origin main",
    "nice -n 5 git push origin main",
    "/usr/bin/git push origin main",
    "\\git push origin main",
    "git \\\n  push origin main",
    "git 'push' origin main",
    "eval 'git push origin main'",
    "find . -maxdepth 0 -exec git push origin main \\;",
    "npm test && bash -c \"bash -c 'git push origin main'\"",
]


@pytest.mark.parametrize("command", WRAPPED)
def test_a_wrapped_command_is_seen_by_a_hard_rule(command: str) -> None:
    """Subshells, substitutions, wrappers and global options hide no command."""
    event = Event(
        "1", "codex", "pre_tool", "s", "", tool="Bash", input=json.dumps({"command": command})
    )
    assert "git push origin main" in subjects(event)


@given(st.text(alphabet="ab \"'`$()<>&|;\\\n{}-c\ue0001\ue001", max_size=60))
def test_no_line_is_too_strange(line: str) -> None:
    """Whatever is typed is taken apart without failing, in one line or the other."""
    assert all(part.words for part in shell.parts(line))
    assert all(shell.started(line))
    commands.classify(line)
    proof.proves(line, "make")
    proof.core(line)
