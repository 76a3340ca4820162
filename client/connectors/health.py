"""What `recalld doctor` sees of the agents: missing entries, dead commands, switched-off hooks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...auth.errors import RecalldError
from ...auth.paths import Layout
from ..connection.documents import Document, document, text
from ..service.examination import Check
from ..service.installation import insistence
from . import hosts, receipts, settings_file, settings_json, settings_toml
from .formats import judged
from .launch import Launch, launch, program
from .receipts import Receipt
from .settings_json import Hook, command_of
from .target import SCOPES, Place, Target, place


class Held(NamedTuple):
    """What one file has of ours."""

    hooks: list[Hook]
    server: Document

    @property
    def programs(self) -> set[str]:
        """The commands that its entries start."""
        named = {program(hook.command) for hook in self.hooks} | {text(self.server, "command")}
        return named - {""}


def examine(layout: Layout, environ: Mapping[str, str], argv0: str, root: str) -> Iterator[Check]:
    """A line for each host that is used here or that we were connected to, or several."""
    try:
        started = launch(argv0, environ, temporary=True)
    except RecalldError:
        started = Launch("recalld", environ.get("RECALLD_HOME", ""))
    insisting = insistence(argv0, environ)
    written = list(receipts.every(layout))
    for name in hosts.NAMES:
        for scope in SCOPES:
            here = place(environ, root, scope, _agent(name, written))
            mine = [receipt for receipt in written if _is_for(receipt, name, here)]
            yield from _host(name, here, started, mine, _command(name, here) + insisting)


def _agent(host: str, written: list[Receipt]) -> str:
    """The custom agent that Kiro's hooks were put into."""
    for receipt in written:
        folder, name = os.path.split(receipt.path)
        if host in receipt.hosts and os.path.basename(folder) == "agents":
            return name.removesuffix(".json")
    return "recalld"


def _is_for(receipt: Receipt, host: str, here: Place) -> bool:
    root = here.root if here.scope == "project" else ""
    return host in receipt.hosts and receipt.root == root and receipt.kind != "rules"


def _host(
    name: str, here: Place, started: Launch, mine: list[Receipt], connect: str
) -> Iterator[Check]:
    module, label = hosts.load(name), _label(name, here)
    targets = module.targets(here, started)
    try:
        held = [(target, _held(target, name)) for target in targets]
    except RecalldError as error:
        yield Check(label, "warning" if mine else "note", error.message, error.hint or "")
        return
    if not mine and not any(found.hooks or found.server for _, found in held):
        if here.scope == "user" and os.path.isdir(module.folder(here)):
            yield Check(label, "note", "It is here, but not connected.", f"Run: {connect}")
        return
    wrong = [
        *(one for target, found in held for one in _wrong(label, target, found, connect)),
        *(Check(label, "warning", *finding) for finding in module.obstacles(here)),
    ]
    yield from wrong or [Check(label, "ok", f"Connected in {_paths(targets)}.")]


def _label(name: str, here: Place) -> str:
    return name if here.scope == "user" else f"{name} here"


def _command(name: str, here: Place) -> str:
    words = ["recalld", "connect", name]
    words += ["--scope", "project"] if here.scope == "project" else []
    words += ["--agent", here.agent] if here.agent != "recalld" else []
    return " ".join(words)


def _paths(targets: list[Target]) -> str:
    return " and ".join(target.path for target in targets)


def _held(target: Target, host: str) -> Held:
    """What the file has of ours; raises InvalidSettings when it is broken."""
    content = settings_file.read(target.path)
    _, found = settings_file.decoded(content)
    with judged(target.path):
        if target.kind == "toml":
            return Held([], settings_toml.server(found))
        return Held(*settings_json.ours(found, host)) if found.strip() else Held([], {})


def _wrong(label: str, target: Target, held: Held, connect: str) -> Iterator[Check]:
    """What differs between the file and what connecting would leave there."""
    for path in sorted(filter(os.path.isabs, held.programs)):  # the shell finds the others
        if not os.access(path, os.X_OK):
            yield Check(
                label, "failure", f"{target.path} starts {path}, which is gone.", f"Run: {connect}"
            )
            return
    lacking = _lacking(target, held)
    if lacking:
        seen = f"{target.path} lacks {', '.join(lacking)}."
        yield Check(label, "warning", seen, f"Run: {connect}")
    elif _differs(target, held):
        seen = f"{target.path} starts {', '.join(sorted(held.programs))} in another way than this."
        yield Check(label, "note", seen, f"To change that, run: {connect}")


def _lacking(target: Target, held: Held) -> list[str]:
    present = {hook.event for hook in held.hooks}
    found = [event for event in target.wanted.hooks if event not in present]
    server = target.wanted.server is not None and not held.server
    return [*found, *(["our MCP server"] if server else [])]


def _differs(target: Target, held: Held) -> bool:
    wanted = {command_of(element) for element in target.wanted.hooks.values()}
    if any(hook.command not in wanted for hook in held.hooks):
        return True
    server = target.wanted.server
    return server is not None and not settings_json.fits(held.server, document(dict(server)))
