"""Completion: verbs, deeds, options and the values of options, run by the shells themselves."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from recalld.client.cli import completing
from recalld.client.cli.catalogue import VERBS
from recalld.client.cli.options import KINDS
from recalld.client.hooks.hosts import NAMES as HOSTS

from tests.harness.cli import Cli

SHELLS = ("bash", "zsh", "fish")
ASKED = {
    "bash": """COMP_WORDS=(recalld {split}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1))
_recalld; printf '%s\\n' "${{COMPREPLY[@]}}" """,
    # What completes in a terminal only is stood in for: each candidate on a line, if it fits.
    "zsh": """compadd() {{ shift; print -l -- ${{(M)@:#$PREFIX*}} }}
_describe() {{ print -l -- ${{(M)${{${{(P)2}}%%:*}}:#$PREFIX*}} }}
_files() {{ }}
compset() {{ PREFIX="${{PREFIX##*=}}" }}
words=(recalld {words}); CURRENT=$#words; PREFIX="$words[CURRENT]"
_recalld""",
    "fish": "complete -C 'recalld {words}'",
}
CASES = [
    (("",), {*VERBS, "help"}),
    (("gr",), {"grant"}),
    (("grant", ""), {"issue", "list", "revoke", "rotate"}),
    (("service", ""), {"install", "uninstall", "status"}),
    (("rules", ""), {"promote", "demote", "harden", "soften"}),
    (("checkpoint", "s"), {"save"}),
    (("list", "--kind", ""), set(KINDS)),
    (("recall", "x", "--kind", "pre"), {"preference"}),
    (("store", "--kind=cor"), {"correction"}),
    (("list", "--status", ""), {"active", "superseded", "quarantined", "archived"}),
    (("lessons", "--status", "prom"), {"promoted"}),
    (("connect", ""), set(HOSTS)),
    (("disconnect", "cu"), {"cursor"}),
    (("hook", "cl"), {"claude-code"}),
    (("connect", "kiro", "--scope", ""), {"user", "project"}),
    (("completion", ""), set(SHELLS)),
    (("api", "P"), {"POST", "PUT", "PATCH"}),
    (("serve", "--managed-by", "sys"), {"systemd"}),
    (("grant", "issue", "--names"), {"--namespace"}),
    (("grant", "issue", "--namespace", "org:acme=v"), {"viewer"}),
    (("help", "undo"), {"undo"}),
]


def offered(shell: str, script: str, words: tuple[str, ...]) -> set[str]:
    """What the shell offers for the last word, options left out unless they were begun."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    split = [part for word in words for part in _parted(word)]
    typed = {
        "words": " ".join(words) if shell == "fish" else " ".join(f"'{one}'" for one in words),
        "split": " ".join(f"'{one}'" for one in split),
    }
    run = [program, "--no-config"] if shell == "fish" else [program, "-f"]
    run = [program, "--norc"] if shell == "bash" else run
    before = "compdef() { }\n" if shell == "zsh" else ""
    done = subprocess.run(
        [*run, "-c", f"{before}{script}\n{ASKED[shell].format(**typed)}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    found = {line.split("\t")[0].rpartition("=")[2] for line in done.stdout.splitlines()}
    return {
        one
        for one in found
        if one.startswith("--") == words[-1].startswith("--") or "=" in words[-1]
    } - {""}


def _parted(word: str) -> list[str]:
    """One word as bash cuts it, at the characters of COMP_WORDBREAKS that we have."""
    spaced = word.replace(":", " : ").replace("=", " = ")
    return spaced.split() or [""]


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    """The scripts, made once."""
    found = completing.offers()
    return {shell: script(found) for shell, script in completing.SCRIPTS.items()}


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_names_everything(recalld: Cli, shell: str) -> None:
    """The script has every verb and its options, and is made without a daemon."""
    script = recalld.ok("completion", shell)
    assert [verb for verb in VERBS if verb not in script] == []
    assert "as-of" in script
    assert "solution" in script


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("words", "wanted"), CASES, ids=[" ".join(typed) for typed, _ in CASES])
def test_what_is_offered(
    scripts: dict[str, str], shell: str, words: tuple[str, ...], wanted: set[str]
) -> None:
    """Each shell offers exactly what can stand there."""
    assert offered(shell, scripts[shell], words) == wanted
