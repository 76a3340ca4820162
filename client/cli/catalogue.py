"""Every verb's name, its module, and one line about it; cheap enough for every start."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """Where a verb is implemented (a module of this package) and what it does."""

    module: str
    summary: str


VERBS: dict[str, Entry] = {
    "store": Entry("storing", "store a memory"),
    "recall": Entry("recalling", "recall memories by meaning and words"),
    "search": Entry("recalling", "find memories that contain every word"),
    "list": Entry("reading", "list memories, newest first"),
    "show": Entry("reading", "show one memory with everything about it"),
    "history": Entry("reading", "list the versions of a memory"),
    "edit": Entry("changing", "change a memory"),
    "forget": Entry("changing", "forget a memory"),
    "undo": Entry("changing", "take back the last change of a memory"),
    "where": Entry("places", "say which namespace this folder uses, and why"),
    "grant": Entry("granting", "issue, list, revoke or rotate access"),
    "start": Entry("running", "start the daemon"),
    "stop": Entry("running", "stop the daemon"),
    "restart": Entry("running", "restart the daemon"),
    "status": Entry("running", "say how the daemon is doing"),
    "reembed": Entry("reembedding", "make all vectors anew, for example for a better model"),
    "serve": Entry("serving", "run the daemon in the foreground"),
    "logs": Entry("reporting", "print the daemon's log"),
    "doctor": Entry("diagnosing", "check the installation and say what to run"),
    "service": Entry("supervising", "install the daemon as a service, or remove it"),
    "connect": Entry("connecting", "connect an agent: its hooks and its MCP server"),
    "disconnect": Entry("connecting", "take our entries out of an agent's settings"),
    "rules": Entry("ruling", "print the rules for a session, or promote, demote, harden one"),
    "lessons": Entry("learning", "list what was learned from failures"),
    "outcomes": Entry("learning", "list what came of an agent's attempts"),
    "checkpoint": Entry("progressing", "save, load or clear where work stands"),
    "stats": Entry("reading", "count memories by namespace and kind"),
    "hook": Entry("hooking", "answer one event of an agent (agents run this)"),
    "mcp": Entry("bridging", "serve the memory over MCP on stdin and stdout (agents run this)"),
    "api": Entry("calling", "call any route of the HTTP API"),
    "completion": Entry("completing", "print a completion script for your shell"),
}
