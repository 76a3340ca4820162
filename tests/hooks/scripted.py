"""One and the same session as each host's hooks tell of it, through real processes.

Steps a host has no event for do nothing; every step returns what the model gets to read. The output
of each process is checked against the host's schema on the way.
"""

from __future__ import annotations

import itertools
import json
from typing import cast

from tests.harness.jsontypes import JsonObject
from tests.hooks.conftest import Hooks, Ran

_NUMBERS = itertools.count(1)
_LIKE_CLAUDE = ("claude-code", "codex")


class Scripted:
    """One session of a host; `another()` begins the next one in the same checkout."""

    def __init__(self, hooks: Hooks, host: str) -> None:
        self.hooks = hooks
        self.host = host
        self.id = f"scripted-{next(_NUMBERS)}"

    def another(self) -> Scripted:
        """A new session of the same agent."""
        return Scripted(self.hooks, self.host)

    def start(self, source: str = "startup") -> str:
        """The session begins, is resumed, or goes on after a compaction."""
        names = {"cursor": "sessionStart", "kiro": "agentSpawn"}
        return self._tell(names.get(self.host, "SessionStart"), source=source)

    def prompt(self, text: str) -> str:
        """The person says something."""
        names = {"cursor": "beforeSubmitPrompt", "kiro": "userPromptSubmit"}
        names |= {"gemini": "BeforeAgent"}
        return self._tell(names.get(self.host, "UserPromptSubmit"), prompt=text)

    def wants(self, command: str) -> JsonObject:
        """A command is about to run; the whole output, for a refusal lies elsewhere."""
        names = {"cursor": "preToolUse", "kiro": "preToolUse", "gemini": "BeforeTool"}
        ran = self._run(names.get(self.host, "PreToolUse"), tool_input={"command": command})
        return ran.json if ran.output else {}

    def fails(self, command: str, error: str) -> str:
        """A command fails."""
        given: JsonObject = {"tool_input": {"command": command}}
        match self.host:
            case "claude-code":
                return self._tell("PostToolUseFailure", error=f"Exit code 1\n{error}", **given)
            case "codex":
                failed: JsonObject = {"output": error, "exit_code": 1}
                return self._tell("PostToolUse", tool_response=failed, **given)
            case "gemini":
                failed = {"llmContent": error, "returnDisplay": error, "error": {"message": error}}
                return self._tell("AfterTool", tool_response=failed, **given)
            case "cursor":
                return self._tell("postToolUseFailure", error_message=error, **given)
            case _:
                result = [{"exit_status": "1", "stdout": "", "stderr": error}]
                failed = {"success": False, "result": result}
                return self._tell("postToolUse", tool_response=failed, **given)

    def works(self, command: str, output: str = "ok") -> str:
        """A command works."""
        given: JsonObject = {"tool_input": {"command": command}}
        match self.host:
            case "claude-code":
                return self._tell("PostToolUse", tool_response={"stdout": output}, **given)
            case "codex":
                done: JsonObject = {"output": output, "exit_code": 0}
                return self._tell("PostToolUse", tool_response=done, **given)
            case "gemini":
                done = {"llmContent": output, "returnDisplay": output}
                return self._tell("AfterTool", tool_response=done, **given)
            case "cursor":
                done = {"exitCode": 0, "stdout": output}
                return self._tell("postToolUse", tool_output=json.dumps(done), **given)
            case _:
                done = {"success": True, "result": [output]}
                return self._tell("postToolUse", tool_response=done, **given)

    def compacts(self) -> str:
        """The context is compacted; what the host asks for anew right after it."""
        before = {"cursor": "preCompact", "gemini": "PreCompress"}
        if self.host == "kiro":
            return ""
        self._tell(before.get(self.host, "PreCompact"))
        if self.host not in _LIKE_CLAUDE:
            return ""
        told = self.start("compact")
        self._tell("PostCompact")
        return told

    def delegates(self) -> str:
        """A sub-agent begins and ends; what it was given."""
        if self.host == "cursor":
            self._tell("subagentStart")
            self._tell("subagentStop")
        if self.host not in _LIKE_CLAUDE:
            return ""
        told = self._tell("SubagentStart")
        self._tell("SubagentStop")
        return told

    def stops(self, said: str) -> None:
        """The agent ends its turn with these words."""
        match self.host:
            case "cursor":
                self._tell("afterAgentResponse", text=said)
                told = self._tell("stop")
            case "gemini":
                told = self._tell("AfterAgent", prompt_response=said)
            case "kiro":
                told = self._tell("stop", assistant_response=said)
            case _:
                told = self._tell("Stop", last_assistant_message=said)
        assert told == ""

    def ends(self) -> None:
        """The session ends."""
        if self.host != "kiro":
            told = self._tell("sessionEnd" if self.host == "cursor" else "SessionEnd")
            assert told == ""

    def _tell(self, event: str, **fields: object) -> str:
        ran = self._run(event, **fields)
        if self.host == "kiro":
            return ran.output.decode()
        said = ran.json
        own = cast("JsonObject", said.get("hookSpecificOutput", {}))
        return str(own.get("additionalContext", said.get("additional_context", "")))

    def _run(self, event: str, **fields: object) -> Ran:
        names = {"kiro": None, "cursor": "conversation_id"}
        name = names.get(self.host, "session_id")
        return self.hooks(self.host, event, **fields, **({name: self.id} if name else {}))
