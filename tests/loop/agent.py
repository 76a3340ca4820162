"""An agent as its hooks tell of it: events over HTTP, with a clock of its own."""

from __future__ import annotations

import itertools
import json
import re
import uuid
from datetime import UTC, datetime, timedelta

from tests.harness.http import Http, Reply
from tests.harness.jsontypes import JsonObject

_NUMBERS = itertools.count(1)
ANSWERED = {"session_start", "prompt", "pre_tool", "subagent_start", "tool_failure"}


class Agent:
    """One agent; `session()` begins another session of it in the same checkout."""

    def __init__(self, http: Http, host: str = "claude-code") -> None:
        self.http = http
        self.host = host
        self.session_id = f"s-{next(_NUMBERS)}"
        self._now = datetime.now(UTC)

    def session(self) -> Agent:
        """The same agent with a new session."""
        return Agent(self.http, self.host)

    def later(self, seconds: float) -> None:
        """Let the agent's clock go on."""
        self._now += timedelta(seconds=seconds)

    def event(self, kind: str, **fields: object) -> JsonObject:
        """One event, not sent yet; its clock goes on by a second."""
        self.later(1)
        event: JsonObject = {"id": uuid.uuid4().hex, "host": self.host, "kind": kind}
        event |= {"session": self.session_id, "at": self._now.isoformat()}
        return event | fields

    def send(self, *events: JsonObject, reply: bool = True) -> Reply:
        """Send events as a hook does, its key included."""
        body = {"events": list(events), "reply": reply}
        headers = {"Idempotency-Key": str(events[0]["id"]) + str(reply)}
        return self.http.post("/v1/events", body, headers=headers)

    def tell(self, kind: str, **fields: object) -> JsonObject:
        """Send one event, insist that it was taken, and return the answer."""
        reply = self.send(self.event(kind, **fields), reply=kind in ANSWERED)
        assert reply.status == 200, reply
        assert reply.json["taken"] == 1
        return reply.json

    def start(self, source: str = "startup") -> JsonObject:
        """The session begins."""
        return self.tell("session_start", source=source)

    def prompt(self, text: str, **fields: object) -> JsonObject:
        """The user says something."""
        return self.tell("prompt", text=text, **fields)

    def fails(self, command: str, error: str, **fields: object) -> JsonObject:
        """A shell command fails."""
        told = json.dumps({"command": command})
        return self.tell(
            "tool_failure", tool="Bash", input=told, error=f"Exit code 1\n{error}", **fields
        )

    def works(self, command: str, output: str = "") -> JsonObject:
        """A shell command works."""
        told = json.dumps({"command": command})
        response = json.dumps({"stdout": output, "stderr": "", "interrupted": False})
        return self.tell("tool_success", tool="Bash", input=told, response=response)

    def edits(self, path: str) -> JsonObject:
        """A file is changed."""
        told = json.dumps({"file_path": path, "old_string": "a", "new_string": "b"})
        return self.tell("tool_success", tool="Edit", input=told, response='{"success":true}')

    def wants(self, command: str, tool: str = "Bash") -> JsonObject:
        """A shell command is about to run."""
        return self.tell("pre_tool", tool=tool, input=json.dumps({"command": command}))

    def stops(self, said: str = "Done.") -> JsonObject:
        """The agent ends its turn."""
        return self.tell("stop", text=said)

    def ends(self) -> JsonObject:
        """The session ends."""
        return self.tell("session_end", reason="prompt_input_exit")

    def memories(self, kind: str, status: str = "active") -> list[JsonObject]:
        """The stored memories of a kind, newest first."""
        found = self.http.get(f"/v1/memories?kind={kind}&status={status}").json["items"]
        return list(found)

    def contents(self, kind: str) -> list[str]:
        """The texts of the active memories of a kind, newest first."""
        return [str(memory["content"]) for memory in self.memories(kind)]

    def lessons(self) -> list[JsonObject]:
        """The lessons, newest first."""
        return list(self.http.get("/v1/lessons").json["lessons"])

    def outcomes(self) -> JsonObject:
        """Outcomes, episodes and totals."""
        return self.http.get("/v1/outcomes").json

    def rules(self, budget: int = 2000) -> JsonObject:
        """The rules for a session."""
        reply = self.http.get(f"/v1/rules?budget={budget}")
        assert reply.status == 200, reply
        return reply.json


def ids(context: str | None) -> list[str]:
    """The ids of the items of a block."""
    return re.findall(r"^\[recalld:([\w-]+)\] ", context or "", re.MULTILINE)
