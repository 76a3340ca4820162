"""Asking the language model the user already has: the agent's own command line, or Ollama.

Never with an API key: the daemon's environment holds none. The command runs in an empty folder, in
a process group of its own that is ended when time is up, and with our hooks switched off, so that
what it does is not taken for the user's work.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, cast

from ..embed.protocol import VectorsUnavailable
from ..embed.providers.post import Place, Poster
from ..recall.budget import tokens_of

SWITCH: Final = "RECALLD_HOOKS"
"""What makes our hooks do nothing when it is `off` (client/hooks reads it)."""
MOST_OUTPUT: Final = 1 << 20
"""Bytes of an answer that are looked at."""

_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class AssistantFailed(Exception):
    """There was no answer; `str()` is one sentence without anything of the text."""


class Said(NamedTuple):
    """An answer, and the tokens it took; estimated where the assistant does not say."""

    text: str
    tokens_in: int
    tokens_out: int


_running: Final[set[subprocess.Popen[bytes]]] = set()

Assistant = Callable[[str, str, float], Said]
"""Takes an instruction, the text it is about, and seconds. Raises AssistantFailed."""


def assistant(provider: str, *, model: str, url: str) -> Assistant:
    """The assistant of this name: claude, codex, gemini, kiro or ollama."""
    if provider == "ollama":
        return _Ollama(url, model or "llama3.2")
    return _CommandLine(provider, model)


class _CommandLine:
    """One call of a host's own command, the text on stdin where no process list shows it."""

    def __init__(self, provider: str, model: str) -> None:
        self._provider = provider
        self._model = model

    def __call__(self, instruction: str, text: str, seconds: float) -> Said:
        whole = f"{instruction}\n\n{text}"
        named = ["--model", self._model] if self._model else []
        match self._provider:
            case "claude":
                command = ["claude", "-p", "--output-format", "json", "--max-turns", "1", *named]
                return _of_claude(_run(command, whole, seconds), whole)
            case "codex":
                command = ["codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only"]
                said = _run([*command, *named, "-"], whole, seconds)
            case "gemini":
                said = _run(["gemini", *named, "-p", instruction], text, seconds)
            case _:
                command = ["kiro-cli", "chat", "--no-interactive", *named, instruction]
                said = _run(command, text, seconds)
        return Said(_COLOURS.sub("", said), tokens_of(whole), tokens_of(said))


class _Ollama:
    """One call of a local Ollama."""

    def __init__(self, url: str, model: str) -> None:
        self._place = Place(url)
        self._model = model
        self._poster: Poster | None = None

    def __call__(self, instruction: str, text: str, seconds: float) -> Said:
        whole = f"{instruction}\n\n{text}"
        body: dict[str, object] = {
            "model": self._model, "prompt": whole, "stream": False, "format": "json",
        }  # fmt: skip
        try:
            self._poster = self._poster or Poster(self._place, "Ollama")
            raw = self._poster.post("/api/generate", body, seconds)
        except VectorsUnavailable as error:  # what the connection to a provider raises
            raise AssistantFailed(str(error)) from None
        answer = _object(raw.decode("utf-8", "replace"))
        said = str(answer.get("response", ""))
        return Said(
            said,
            _number(answer.get("prompt_eval_count")) or tokens_of(whole),
            _number(answer.get("eval_count")) or tokens_of(said),
        )


def _of_claude(raw: str, whole: str) -> Said:
    answer = _object(raw)
    said = str(answer.get("result", ""))
    usage = answer.get("usage")
    counts = cast("dict[str, object]", usage) if isinstance(usage, dict) else {}
    return Said(
        said,
        _number(counts.get("input_tokens")) or tokens_of(whole),
        _number(counts.get("output_tokens")) or tokens_of(said),
    )


def _run(command: Sequence[str], text: str, seconds: float) -> str:
    with tempfile.TemporaryDirectory(prefix="recalld-") as empty:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=empty,
                env={**os.environ, SWITCH: "off"},
                start_new_session=True,
            )
        except OSError as error:
            raise AssistantFailed(f"{command[0]} cannot be run: {error.strerror}.") from None
        _running.add(process)
        try:
            said, _ = process.communicate(text.encode("utf-8", "replace"), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssistantFailed(f"{command[0]} took longer than {seconds:g} s.") from None
        finally:
            _end(process)
    if process.returncode:
        raise AssistantFailed(f"{command[0]} ended with status {process.returncode}.")
    return said[:MOST_OUTPUT].decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole group: these commands start servers of their own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    _running.discard(process)


def end_running() -> None:
    """End the call under way, if there is one: nothing of ours outlives the daemon."""
    for process in list(_running):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _object(raw: str) -> dict[str, object]:
    try:
        value: object = json.loads(raw)
    except (ValueError, RecursionError):
        raise AssistantFailed("The answer is not the JSON it should be.") from None
    if not isinstance(value, dict):
        raise AssistantFailed("The answer is not the JSON it should be.")
    return cast("dict[str, object]", value)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
