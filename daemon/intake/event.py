"""One event of an agent at work, after the gate: clean, bounded, ready to learn from."""

from __future__ import annotations

from typing import NamedTuple


class Event(NamedTuple):
    """What a hook reported; an empty string means that the host did not say.

    Only `gate` makes these, so whatever is learned from one has passed it. `at` is RFC 3339 UTC,
    `input` the tool's input as JSON (or what is left of it), `text` the prompt or the agent's last
    message.
    """

    id: str
    host: str
    kind: str
    session: str
    at: str
    cwd: str = ""
    source: str = ""
    text: str = ""
    tool: str = ""
    input: str = ""
    response: str = ""
    error: str = ""
    agent: str = ""
    reason: str = ""

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes two deliveries the same event: they are made once and sent as they are."""
        return self.id, self.host, self.kind, self.session, self.at

    @property
    def by_user(self) -> bool:
        """Whether a prompt is a person's own words, not a timer's, a program's or an agent's."""
        return self.kind == "prompt" and self.source in {"", "user"} and not self.agent
