"""One realistic payload for every event of every host, with the fields its documentation names."""

from __future__ import annotations

from tests.harness.jsontypes import JsonObject

_BASH: JsonObject = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
_CALL: JsonObject = {**_BASH, "tool_use_id": "toolu_1"}
_AGENT: JsonObject = {"agent_id": "a-1", "agent_type": "Explore"}
_DONE: JsonObject = {"stop_hook_active": False, "last_assistant_message": "It works now."}
_STDOUT: JsonObject = {"stdout": "1 passed", "stderr": "", "interrupted": False, "isImage": False}

CLAUDE_CODE: dict[str, JsonObject] = {
    "SessionStart": {"source": "startup", "model": "opus"},
    "UserPromptSubmit": {"prompt": "Never start the tests without docker compose up first."},
    "PreToolUse": _CALL,
    "PostToolUse": {**_CALL, "tool_response": _STDOUT, "duration_ms": 5},
    "PostToolUseFailure": {**_CALL, "error": "Exit code 1\nE assert 1 == 2", "is_interrupt": False},
    "SubagentStart": _AGENT,
    "SubagentStop": {**_AGENT, **_DONE, "agent_transcript_path": "/t/agent.jsonl"},
    "Stop": _DONE,
    "SessionEnd": {"reason": "clear"},
    "PreCompact": {"trigger": "auto", "custom_instructions": None},
    "PostCompact": {"trigger": "auto", "compact_summary": "We fixed the tests."},
}

CODEX: dict[str, JsonObject] = {
    "SessionStart": {"source": "resume", "model": "gpt"},
    "UserPromptSubmit": {"prompt": "use pnpm", "turn_id": "t-1"},
    "PreToolUse": {**_CALL, "turn_id": "t-1"},
    "PostToolUse": {**_CALL, "turn_id": "t-1", "tool_response": {"output": "ok", "exit_code": 0}},
    "SubagentStart": _AGENT,
    "SubagentStop": {**_AGENT, **_DONE},
    "Stop": _DONE,
    "SessionEnd": {"reason": "exit"},
    "PreCompact": {"trigger": "manual"},
    "PostCompact": {"trigger": "manual"},
}

_SHELL: JsonObject = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}

GEMINI: dict[str, JsonObject] = {
    "SessionStart": {"source": "startup"},
    "BeforeAgent": {"prompt": "fix the build"},
    "BeforeTool": _SHELL,
    "AfterTool": {**_SHELL, "tool_response": {"llmContent": "a.py", "returnDisplay": "a.py"}},
    "AfterAgent": {
        "prompt": "fix the build",
        "prompt_response": "Fixed.",
        "stop_hook_active": False,
    },
    "SessionEnd": {"reason": "exit"},
    "PreCompress": {"trigger": "auto"},
}

_CURSOR_CALL: JsonObject = {"tool_name": "Shell", "tool_input": {"command": "ls"}}

CURSOR: dict[str, JsonObject] = {
    "sessionStart": {"session_id": "c-1", "composer_mode": "agent", "is_background_agent": False},
    "beforeSubmitPrompt": {"prompt": "hi", "attachments": []},
    "preToolUse": {**_CURSOR_CALL, "tool_use_id": "u-1"},
    "beforeShellExecution": {"command": "ls"},
    "beforeMCPExecution": {"tool_name": "query", "tool_input": '{"q": 1}', "url": "http://x"},
    "postToolUse": {**_CURSOR_CALL, "tool_output": '{"exitCode": 0, "stdout": "a.py"}'},
    "afterShellExecution": {"command": "ls", "output": "a.py", "duration": 3},
    "afterMCPExecution": {"tool_name": "query", "tool_input": "{}", "result_json": "{}"},
    "afterFileEdit": {"file_path": "/a.py", "edits": [{"old_string": "a", "new_string": "b"}]},
    "postToolUseFailure": {
        **_CURSOR_CALL,
        "error_message": "no such file",
        "failure_type": "error",
    },
    "subagentStart": {"subagent_id": "s-1", "subagent_type": "explore", "task": "look"},
    "subagentStop": {"subagent_type": "explore", "status": "completed", "summary": "Seen."},
    "afterAgentResponse": {"text": "Done."},
    "stop": {"status": "completed", "loop_count": 0},
    "sessionEnd": {"session_id": "c-1", "reason": "user_close"},
    "preCompact": {"trigger": "auto"},
}

_EXECUTE: JsonObject = {"tool_name": "execute_bash", "tool_input": {"command": "ls"}}

KIRO: dict[str, JsonObject] = {
    "agentSpawn": {},
    "userPromptSubmit": {"prompt": "hi"},
    "preToolUse": _EXECUTE,
    "postToolUse": {**_EXECUTE, "tool_response": {"success": True, "result": ["a.py"]}},
    "stop": {"assistant_response": "Done."},
}

_ALL = {
    "claude-code": CLAUDE_CODE,
    "codex": CODEX,
    "gemini": GEMINI,
    "cursor": CURSOR,
    "kiro": KIRO,
}


def payload(host: str, event: str, cwd: str = "/work") -> JsonObject:
    """The whole payload of this event."""
    return {**_base(host, cwd), "hook_event_name": event, **_ALL[host].get(event, {})}


def _base(host: str, cwd: str) -> JsonObject:
    if host == "kiro":
        return {"cwd": cwd}
    if host == "cursor":
        person: JsonObject = {"cursor_version": "2.1", "user_email": "person@example.com"}
        ids: JsonObject = {"conversation_id": "c-1", "generation_id": "g-1"}
        return {**ids, **person, "workspace_roots": [cwd]}
    return {"session_id": "s-1", "transcript_path": "/t/s-1.jsonl", "cwd": cwd}
