"""`recalld completion bash|zsh|fish`: a script that knows every verb and its options.

It is generated from the verbs themselves, and completing costs no process: everything is in the
script.
"""

from __future__ import annotations

import argparse

from . import terminal
from .catalogue import VERBS as CATALOGUE
from .verb import Context, Verb, parser


def _arguments(built: argparse.ArgumentParser) -> None:
    built.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="bash|zsh|fish")


def _completion(_context: Context, args: argparse.Namespace) -> int:
    scripts = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    terminal.say(scripts[str(args.shell)]().rstrip("\n"))
    return 0


def words(verb: str) -> list[str]:
    """What can follow a verb: its options, and its deeds where it has some."""
    from .command import load

    built = parser(verb, load(verb))
    found: list[str] = []
    for action in built._actions:
        found += [option for option in action.option_strings if option.startswith("--")]
        if not action.option_strings and action.choices:
            found += [str(choice) for choice in action.choices]
    return found


def _bash() -> str:
    cases = "\n".join(f"    {verb}) words='{' '.join(words(verb))}' ;;" for verb in CATALOGUE)
    return f"""_recalld() {{
  local words='' current="${{COMP_WORDS[COMP_CWORD]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='{" ".join(CATALOGUE)} --help --version'
  else
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _recalld recalld
"""


def _zsh() -> str:
    verbs = "\n".join(
        f"    '{verb}:{entry.summary.replace(chr(39), '')}'" for verb, entry in CATALOGUE.items()
    )
    cases = "\n".join(f"    {verb}) compadd -- {' '.join(words(verb))} ;;" for verb in CATALOGUE)
    return f"""#compdef recalld
_recalld() {{
  local -a verbs=(
{verbs}
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  case "$words[2]" in
{cases}
  esac
  _files
}}
compdef _recalld recalld
"""


def _fish() -> str:
    lines = ["complete -c recalld -f"]
    for verb, entry in CATALOGUE.items():
        about = entry.summary.replace("'", "")
        lines.append(f"complete -c recalld -n __fish_use_subcommand -a {verb} -d '{about}'")
        seen = f"'__fish_seen_subcommand_from {verb}'"
        for word in words(verb):
            kind = f"-l {word[2:]}" if word.startswith("--") else f"-a {word}"
            lines.append(f"complete -c recalld -n {seen} {kind}")
    return "\n".join(lines)


VERBS = {
    "completion": Verb(
        _arguments,
        _completion,
        "Print a completion script; load it from your shell's start-up file.",
        'eval "$(recalld completion bash)"',
    )
}
