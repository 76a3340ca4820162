"""Our hooks and our MCP server in a JSON file of settings.

Hosts keep hooks as `hooks.<event>: [element…]`, where an element is a command of its own (Cursor,
Kiro) or a group of them, `{"matcher"?, "hooks": [command…]}` (Claude Code, Codex, Gemini CLI).
Which ones are ours is told by their commands, wherever they are and whoever moved them. What a
person wrote to run our hook counts as present, and is neither changed nor removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..connection.documents import Document, document, items
from .json_editor import Editor, Path, Unfit
from .launch import NAME, hook_host, is_server, is_written, is_written_server
from .target import Wanted

SERVER: Path = ("mcpServers", NAME)
"""Where every host keeps our server."""

_HOME = "RECALLD_HOME"


class Hook(NamedTuple):
    """A hook of ours in a document: the path to its object, and its command."""

    path: Path
    command: str

    @property
    def event(self) -> str:
        """The event it answers."""
        return str(self.path[1])

    @property
    def written(self) -> bool:
        """Whether connecting wrote it, not a person."""
        return is_written(self.command)


def hooks(editor: Editor, host: str) -> list[Hook]:
    """Every hook that runs ours for this host, in the document's order."""
    found: list[Hook] = []
    for event, elements in document(editor.value(("hooks",))).items():
        for at, element in enumerate(items(elements)):
            found += _hooks(("hooks", event, at), document(element), host)
    return found


def _hooks(path: Path, element: Document, host: str) -> Iterator[Hook]:
    """The element itself, if it is a command of ours, and those of ours inside it."""
    handlers = [(path, element)]
    for at, inner in enumerate(items(element.get("hooks"))):
        handlers.append(((*path, "hooks", at), document(inner)))
    for where, handler in handlers:
        command = handler.get("command")
        if hook_host(command) == host:
            yield Hook(where, str(command))


def merged(text: str, wanted: Wanted) -> tuple[str, list[Path]]:
    """The document with all of ours in it, and the paths that were added besides.

    What is there already stays where and as it is. Raises Broken or Unfit.
    """
    editor = Editor(text if text.strip() else "{}\n")
    made = _defaults(editor, wanted)
    _drop(editor, _surplus(editor, wanted))
    # Of two for an event the one we wrote counts: it is the one to be kept right.
    found = sorted(hooks(editor, wanted.host), key=lambda hook: hook.written)
    present = {hook.event: hook for hook in found}
    for event, element in wanted.hooks.items():
        _put_hook(editor, event, element, present.get(event))
    if wanted.server is not None:
        _put_server(editor, dict(wanted.server))
    return editor.text, made + editor.made


def _defaults(editor: Editor, wanted: Wanted) -> list[Path]:
    present = editor.names
    needed = {**({} if present else wanted.fresh), **wanted.defaults}
    lacking = [name for name in needed if name not in present]
    for name in lacking:
        editor.set((name,), needed[name])
    return [(name,) for name in lacking]


def _surplus(editor: Editor, wanted: Wanted) -> list[Hook]:
    """Ours for events that are no longer wanted, and every second one for the same event."""
    seen: set[str] = set()
    found: list[Hook] = []
    for hook in _written(editor, wanted.host):
        if hook.event in seen or hook.event not in wanted.hooks:
            found.append(hook)
        seen.add(hook.event)
    return found


def _written(editor: Editor, host: str) -> list[Hook]:
    return [hook for hook in hooks(editor, host) if hook.written]


def _put_hook(editor: Editor, event: str, element: object, present: Hook | None) -> None:
    if present is None:
        editor.append(("hooks", event), element)
        return
    command = command_of(element)
    if present.written and present.command != command:
        editor.set((*present.path, "command"), command)


def command_of(element: object) -> str:
    """The command in an element of ours."""
    found = document(element)
    inner = items(found.get("hooks"))
    return str((document(inner[0]) if inner else found).get("command"))


def _put_server(editor: Editor, wanted: Document) -> None:
    present = editor.value(SERVER)
    if editor.find(SERVER) is None:
        editor.set(SERVER, wanted)
        return
    if not is_server(present):
        raise Unfit(f"{'.'.join(map(str, SERVER))} is somebody else's")
    if is_written_server(present) and not fits(document(present), wanted):
        editor.set(SERVER, _fitted(document(present), wanted))


def fits(present: Document, wanted: Document) -> bool:
    """Whether the server starts the right command with the right data folder; more may be set."""
    return _fitted(present, wanted) == present


def _fitted(present: Document, wanted: Document) -> Document:
    """The server as it has to be, with everything the person added to it."""
    found = {**present, **wanted}
    env = {name: value for name, value in document(present.get("env")).items() if name != _HOME}
    env |= document(wanted.get("env"))
    return {**found, "env": env} if env or "env" in present else found


def without(text: str, host: str, made: Sequence[Path] | None) -> str:
    """The document without anything that we wrote.

    `made` are the containers that connecting added: they go too when nothing is left in them. None
    means that nobody remembers; then all that lose their last entry go. Raises Broken or Unfit.
    """
    if not text.strip():
        return text
    editor = Editor(text)
    emptied = _drop(editor, _written(editor, host))
    if is_written_server(editor.value(SERVER)):
        editor.remove(SERVER)
        emptied.append(SERVER[:1])
    containers = {part for path in emptied for part in _above(path)}
    for path in sorted(containers, key=len, reverse=True):
        if (made is None or path in made) and not editor.value(path):
            editor.remove(path)
    return editor.text


def _above(path: Path) -> list[Path]:
    return [path[:length] for length in range(len(path), 0, -1)]


def _drop(editor: Editor, found: Sequence[Hook]) -> list[Path]:
    """Remove these hooks, and groups that hold no other; the arrays that lost an element."""
    lost: list[Path] = []
    for hook in reversed(found):  # from the end, so that the indices before stay true
        editor.remove(hook.path)
        group = hook.path[:3]
        if len(hook.path) > len(group) and not editor.value((*group, "hooks")):
            editor.remove(group)
        lost.append(hook.path[:2])
    return lost


def is_left_over(text: str, made: Sequence[Path]) -> bool:
    """Whether nothing is in the document but what connecting put there besides our entries."""
    return all((name,) in made for name in Editor(text).names)


def ours(text: str, host: str) -> tuple[list[Hook], Document]:
    """The hooks of ours and our server, for judging them. Raises Broken or Unfit."""
    editor = Editor(text)
    server = editor.value(SERVER)
    return hooks(editor, host), document(server) if is_server(server) else {}
