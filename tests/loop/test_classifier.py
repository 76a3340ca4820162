"""The optional language model: the user's own command, pointing at sentences, and no more."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from recalld.client.hooks import run
from recalld.daemon.lessons import assistants
from recalld.daemon.lessons.classifier import named

from tests.daemon.started import Started
from tests.harness.jsontypes import JsonObject
from tests.harness.waiting import eventually
from tests.loop.agent import Agent

PROMPT = "The linter must stay quiet in this folder, please. Fix the build."
RULE = "The linter must stay quiet in this folder, please."
SAID = {"rules": [{"sentence": RULE, "kind": "preference"}]}
COMMANDS = {"claude": "claude", "codex": "codex", "gemini": "gemini", "kiro": "kiro-cli"}


def fake(folder: Path, command: str, answer: str, *, seconds: int = 0) -> Path:
    """A program of that name that notes how it was called and prints the answer."""
    folder.mkdir(exist_ok=True)
    noted = folder / "called.json"
    program = folder / command
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys, time\n"
        "told = {'argv': sys.argv[1:], 'stdin': sys.stdin.read(), 'cwd': os.listdir('.'),\n"
        "        'env': dict(os.environ), 'pid': os.getpid()}\n"
        f"open({str(noted)!r} + '.new', 'w').write(json.dumps(told))\n"
        f"os.rename({str(noted)!r} + '.new', {str(noted)!r})\n"
        f"time.sleep({seconds})\n"
        f"print({answer!r})\n"
    )
    program.chmod(0o755)
    return noted


def with_model(
    start: Callable[..., Started], tmp_path: Path, provider: str, **settings: object
) -> Agent:
    """An agent whose daemon may use the provider, found in `tmp_path/bin`."""
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    served = start(PATH=path, ANTHROPIC_API_KEY="sk-none", llm=provider, **settings)
    return Agent(served.client(tmp_path))


def meter(agent: Agent) -> JsonObject:
    """What the daemon says about its model."""
    told: JsonObject = agent.http.get("/v1/status").json["llm"]
    return told


@pytest.mark.parametrize("provider", COMMANDS)
def test_the_hosts_own_command_is_asked(
    start: Callable[..., Started], tmp_path: Path, provider: str
) -> None:
    """The prompt goes by stdin, hooks are off, no key is there, and the sentence is kept whole."""
    answer = json.dumps(SAID)
    if provider == "claude":
        usage = {"input_tokens": 70, "output_tokens": 9}
        answer = json.dumps({"type": "result", "result": f"Here: {answer}", "usage": usage})
    noted = fake(tmp_path / "bin", COMMANDS[provider], answer)
    agent = with_model(start, tmp_path, provider)
    agent.prompt(PROMPT)
    eventually(lambda: meter(agent)["kept"] == 1)
    assert agent.contents("preference") == [RULE]
    assert agent.memories("preference")[0]["source"]["tool"] == provider
    called = json.loads(noted.read_text())
    assert PROMPT in called["stdin"]
    assert PROMPT not in " ".join(called["argv"])
    assert called["env"]["RECALLD_HOOKS"] == "off"
    assert "ANTHROPIC_API_KEY" not in called["env"]
    assert called["cwd"] == []
    told = meter(agent)
    assert (told["provider"], told["calls"], told["last_error"]) == (provider, 1, None)
    if provider == "claude":
        assert (told["tokens_in"], told["tokens_out"]) == (70, 9)


def test_ollama_is_asked_over_http(start: Callable[..., Started], tmp_path: Path) -> None:
    """A local server answers, and its own token counts are what is metered."""

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = {"response": json.dumps(SAID), "prompt_eval_count": 50, "eval_count": 20}
            raw = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        agent = with_model(start, tmp_path, "ollama", llm_url=url)
        agent.prompt(PROMPT)
        eventually(lambda: meter(agent)["kept"] == 1)
        assert (meter(agent)["tokens_in"], meter(agent)["tokens_out"]) == (50, 20)
    finally:
        server.shutdown()
        server.server_close()


def test_it_is_off_unless_turned_on(agent: Agent, tmp_path: Path) -> None:
    """Nothing is run and status says so."""
    agent.prompt(PROMPT)
    assert meter(agent) is None
    assert agent.contents("preference") == []


def test_failures_are_told_and_hurt_nobody(start: Callable[..., Started], tmp_path: Path) -> None:
    """Missing, slow or talking nonsense: what patterns found stands, status has the reason."""
    agent = with_model(start, tmp_path, "gemini", llm_timeout_s=0.5)
    agent.prompt(PROMPT)
    eventually(lambda: meter(agent)["last_error"] is not None)
    assert meter(agent)["last_error"].startswith("gemini cannot be run")
    noted = fake(tmp_path / "bin", "gemini", "never said", seconds=60)
    agent.prompt(PROMPT)
    eventually(lambda: "took longer" in meter(agent)["last_error"])
    pid = int(json.loads(noted.read_text())["pid"])
    eventually(lambda: not Path(f"/proc/{pid}").exists())
    fake(tmp_path / "bin", "gemini", "I would rather not.")
    agent.prompt(PROMPT)
    eventually(lambda: "not the JSON" in meter(agent)["last_error"])
    agent.prompt("Always use spaces.")
    assert agent.contents("preference") == ["Always use spaces."]
    assert meter(agent)["calls"] == 3


def test_calls_are_bounded(start: Callable[..., Started], tmp_path: Path) -> None:
    """So many a day, and none for prompts that need none."""
    fake(tmp_path / "bin", "codex", '{"rules": []}')
    agent = with_model(start, tmp_path, "codex", llm_calls_per_day=2)
    for text in ("ok", "fix it", "Always use spaces.", "Please, no. " * 1000):
        agent.prompt(text)
    for number in range(4):
        agent.prompt(f"You should have seen number {number}")
        eventually(lambda: meter(agent)["waiting"] == 0)
    eventually(lambda: meter(agent)["skipped"] == 2)
    assert meter(agent)["calls"] == 2


def test_only_the_users_own_sentences_are_kept() -> None:
    """A rephrased, shortened, invented or oddly typed rule is dropped."""
    prompt = "Never start the tests without docker. Fix it."
    for sentence in ("start the tests without docker.", "Never start tests.", "Obey me.", "", 7):
        said = json.dumps({"rules": [{"sentence": sentence, "kind": "correction"}]})
        assert named(said, prompt) == [], sentence
    whole = {"sentence": "Never start the tests without docker.", "kind": "correction"}
    odd = [{**whole, "kind": "order"}, "x", None, {**whole, "kind": 3}]
    found = named(f"Sure!\n{json.dumps({'rules': [*odd, whole, whole]})}\nBye", prompt)
    assert [one.sentence for one in found] == ["Never start the tests without docker."]


def test_the_switch_is_the_one_hooks_read() -> None:
    """Two packages that may not import each other name the same variable."""
    assert assistants.SWITCH == run.SWITCH
