"""What each host accepts on a hook's stdout, event by event, as its documentation states it.

A shape is a table of keys: `!` marks a required one, a set lists the only values, a table nests.
Nothing else may occur, also where a host would merely ignore it: an ignored key is a lost message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from tests.harness.jsontypes import JsonObject

Shape: TypeAlias = Mapping[str, Any]

_UNIVERSAL: Shape = {"continue": bool, "stopReason": str, "systemMessage": str}
_BLOCK: Shape = {"decision": {"block"}, "reason": str}


def _own(name: str, **fields: object) -> Shape:
    return {"hookSpecificOutput": {"hookEventName!": {name}, **fields}}


def _context(name: str) -> Shape:
    return {**_UNIVERSAL, **_own(name, additionalContext=str)}


_REFUSAL = {"permissionDecision": {"allow", "deny", "ask"}, "permissionDecisionReason": str}

CLAUDE_CODE: dict[str, Shape] = {
    "SessionStart": _context("SessionStart"),
    "UserPromptSubmit": {**_context("UserPromptSubmit"), **_BLOCK},
    "PreToolUse": {**_UNIVERSAL, **_own("PreToolUse", additionalContext=str, **_REFUSAL)},
    "PostToolUse": {**_context("PostToolUse"), **_BLOCK},
    "PostToolUseFailure": {**_context("PostToolUseFailure"), **_BLOCK},
    "SubagentStart": _context("SubagentStart"),
    "SubagentStop": _UNIVERSAL,  # context or a decision there would make the agent go on
    "Stop": _UNIVERSAL,
    "SessionEnd": _UNIVERSAL,
    "PreCompact": _UNIVERSAL,
    "PostCompact": _UNIVERSAL,
}

CODEX: dict[str, Shape] = {
    "SessionStart": _context("SessionStart"),
    "UserPromptSubmit": {**_context("UserPromptSubmit"), **_BLOCK},
    "PreToolUse": {"systemMessage": str, **_own("PreToolUse", additionalContext=str, **_REFUSAL)},
    "PostToolUse": {**_context("PostToolUse"), **_BLOCK},
    "SubagentStart": _context("SubagentStart"),
    "SubagentStop": _UNIVERSAL,
    "Stop": _UNIVERSAL,
    "SessionEnd": _UNIVERSAL,
    "PreCompact": _UNIVERSAL,
    "PostCompact": _UNIVERSAL,
}

_DENY: Shape = {"decision": {"allow", "deny", "block"}, "reason": str}

GEMINI: dict[str, Shape] = {
    "SessionStart": _context("SessionStart"),
    "BeforeAgent": _context("BeforeAgent"),  # a denial would discard the person's message
    "BeforeTool": {**_UNIVERSAL, **_DENY},  # takes no context
    "AfterTool": _context("AfterTool"),  # a denial would hide the tool's result
    "AfterAgent": _UNIVERSAL,
    "SessionEnd": _UNIVERSAL,
    "PreCompress": _UNIVERSAL,
}

_PERMISSION: Shape = {"permission": {"deny"}, "user_message": str, "agent_message": str}

CURSOR: dict[str, Shape] = {
    "sessionStart": {"additional_context": str},
    "beforeSubmitPrompt": {"continue!": {True}},
    "preToolUse": _PERMISSION,
    "beforeShellExecution": _PERMISSION,
    "beforeMCPExecution": _PERMISSION,
    "postToolUse": {"additional_context": str},
    "afterShellExecution": {},
    "afterMCPExecution": {},
    "afterFileEdit": {},
    "postToolUseFailure": {},
    "subagentStart": {},
    "subagentStop": {},
    "afterAgentResponse": {},
    "stop": {},
    "sessionEnd": {},
    "preCompact": {},
}

KIRO = ("agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop")
_KIRO_PRINTS = ("agentSpawn", "userPromptSubmit")

EVENTS: dict[str, tuple[str, ...]] = {
    "claude-code": tuple(CLAUDE_CODE),
    "codex": tuple(CODEX),
    "cursor": tuple(CURSOR),
    "gemini": tuple(GEMINI),
    "kiro": KIRO,
}

_JSON_HOSTS = {"claude-code": CLAUDE_CODE, "codex": CODEX, "cursor": CURSOR, "gemini": GEMINI}


def problems(host: str, event: str, output: bytes) -> list[str]:
    """What this host would object to; nothing for a valid output."""
    if host == "kiro":
        output.decode()
        return [] if not output or event in _KIRO_PRINTS else ["printed where nobody reads it"]
    try:
        said = json.loads(output)
    except ValueError:
        return ["not JSON"]
    return list(_problems(said, _JSON_HOSTS[host].get(event, {}), event))


def _problems(value: object, shape: Any, where: str) -> list[str]:
    if isinstance(shape, Mapping):
        return _object_problems(value, cast("Shape", shape), where)
    if isinstance(shape, set):
        return [] if value in shape else [f"{where} is {value!r}"]
    if isinstance(value, shape) and (not isinstance(value, str) or value.strip()):
        return []
    return [f"{where} is {value!r}"]


def _object_problems(value: object, shape: Shape, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where} is no object"]
    said = cast("JsonObject", value)
    known = {key.rstrip("!"): inner for key, inner in shape.items()}
    found = [f"{where} lacks {key}" for key in shape if key[-1] == "!" and key[:-1] not in said]
    for key, inner in said.items():
        if key in known:
            found += _problems(inner, known[key], f"{where}.{key}")
        else:
            found.append(f"{where} has {key}")
    return found
