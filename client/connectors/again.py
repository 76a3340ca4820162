"""The commands that connect again what a disconnecting took out."""

from __future__ import annotations

from collections.abc import Sequence

from ...auth.paths import quote
from .connection import Done
from .hosts import kiro
from .target import Place


def commands(host: str, here: Place, done: Sequence[Done], ending: str = "") -> list[str]:
    """One for every scope, checkout and agent that something was taken out of; `ending` is what
    each has to end with.
    """
    gone = [one for one in done if one.changed]
    found: list[str] = []
    for (root, folder), rules in _ways(gone, here.root).items():
        for agent in _agents(host, root, gone) or [here.agent]:
            command = f"recalld connect {host}{_options(root, agent, rules=rules)}{ending}"
            found.append(command if folder == here.root else f"(cd {quote(folder)} && {command})")
    return found


def _ways(gone: Sequence[Done], here: str) -> dict[tuple[str, str], bool]:
    """The checkout ("" for everywhere) and the folder to connect in, and whether with its rules.

    No command writes rules alone: they come with their checkout's settings if those went too, else
    with those for everywhere.
    """
    roots = dict.fromkeys(one.root for one in gone if one.kind != "rules")
    ways = {(root, root or here): False for root in roots}
    for one in gone:
        if one.kind == "rules":
            ways[one.root if one.root in roots else "", one.root] = True
    return ways


def _agents(host: str, root: str, gone: Sequence[Done]) -> list[str]:
    """The agents of this place that had our hooks; only Kiro has several."""
    if host != "kiro":
        return []
    names = [kiro.agent(one.path) for one in gone if one.root == root]
    return [name for name in names if name]


def _options(root: str, agent: str, *, rules: bool) -> str:
    scope = " --scope project" if root else ""
    named = f" --agent {quote(agent)}" if agent != "recalld" else ""
    return f"{scope}{named}{' --rules-file' if rules else ''}"
