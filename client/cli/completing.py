"""`recalld completion bash|zsh|fish`: a script that knows verbs, deeds, options and their values.

It is generated from the verbs themselves, and completing costs no process: everything is in the
script.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

from . import terminal
from .catalogue import VERBS as CATALOGUE
from .granting import ROLES
from .verb import Context, Verb, parser

_SHELLS = ("bash", "zsh", "fish")
_ROLES_OF = "grant issue"
"""Where a namespace may be followed by `=ROLE`."""


class Offer(NamedTuple):
    """What can follow a verb, or a deed of one.

    `options` maps each to the values it has, to none when any will do, and to None when it takes
    none; `words` are what can stand by itself, `deeds` those of them that change what follows.
    """

    options: dict[str, tuple[str, ...] | None]
    words: tuple[str, ...]
    deeds: tuple[str, ...]

    @property
    def all(self) -> str:
        """Words and options in one string."""
        return " ".join([*self.words, *self.options])


def _arguments(built: argparse.ArgumentParser) -> None:
    built.add_argument("shell", choices=_SHELLS, metavar="SHELL", help="bash, zsh or fish")


def _completion(_context: Context, args: argparse.Namespace) -> int:
    terminal.say(SCRIPTS[str(args.shell)](offers()).rstrip("\n"))
    return 0


def parsers(name: str, built: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """A verb's parser and those of its deeds, by what is typed: `grant`, `grant issue`."""
    found = {name: built}
    for action in built._actions:
        if _has_deeds(action):
            deeds = cast("Mapping[str, argparse.ArgumentParser]", action.choices)
            found |= {f"{name} {deed}": one for deed, one in deeds.items()}
    return found


def _has_deeds(action: argparse.Action) -> bool:
    return isinstance(action.choices, Mapping)


def offers() -> dict[str, Offer]:
    """What can follow each verb and each deed, by what is typed."""
    from .command import load

    found: dict[str, Offer] = {}
    for verb in CATALOGUE:
        for typed, built in parsers(verb, parser(verb, load(verb))).items():
            found[typed] = _offer(built)
    return found


def _offer(built: argparse.ArgumentParser) -> Offer:
    options: dict[str, tuple[str, ...] | None] = {}
    words: list[str] = []
    deeds: list[str] = []
    for action in built._actions:
        values = tuple(map(str, action.choices or ()))
        for option in action.option_strings:
            if option.startswith("--"):
                options[option] = None if action.nargs == 0 else values
        if not action.option_strings:
            words += values
            deeds += values if _has_deeds(action) else ()
    return Offer(options, tuple(words), tuple(deeds))


def _cases(pairs: Iterable[tuple[str, str]], body: str) -> str:
    """Branches of a shell's `case`: the patterns that share words share one; `body` has `{}`."""
    patterns: dict[str, list[str]] = {}
    for pattern, words in pairs:
        patterns.setdefault(words, []).append(f"'{pattern}'")
    return "\n".join(
        f"    {'|'.join(those)}) {body.format(words)} ;;" for words, those in patterns.items()
    )


def _valued(found: Mapping[str, Offer], *, listed: bool) -> list[tuple[str, str]]:
    """`VERB --option` and its values, of the options that list them, or of those that do not."""
    return [
        (f"{typed} {option}", " ".join(values))
        for typed, offer in found.items()
        for option, values in offer.options.items()
        if values is not None and bool(values) == listed
    ]


def _deeds(found: Mapping[str, Offer]) -> str:
    return "|".join(f"'{typed}'" for typed in found if " " in typed)


def _bash(found: Mapping[str, Offer]) -> str:
    verbs = " ".join(CATALOGUE)
    return f"""_recalld() {{
  local word words='' verb="${{COMP_WORDS[1]}}"
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{verbs} help --help --version' -- "$current"))
    return
  fi
  for word in "${{COMP_WORDS[@]:2:COMP_CWORD-2}}"; do
    case "$verb $word" in
    {_deeds(found)}) verb="$verb $word"; break ;;
    esac
  done
  if [ "$current" = = ] || [ "$previous" = = ]; then
    [ "$current" = = ] && current='' || previous="${{COMP_WORDS[COMP_CWORD-2]}}"
    [ "$verb" = '{_ROLES_OF}' ] && [ "${{previous#--}}" = "$previous" ] && previous='='
  fi
  case "$verb $previous" in
    '{_ROLES_OF} =') words='{" ".join(ROLES)}' ;;
{_cases(_valued(found, listed=True), "words='{}'")}
{_cases(_valued(found, listed=False), "return{}")}
    'help help') words='{verbs}' ;;
    *) case "$verb" in
{_cases([(typed, offer.all) for typed, offer in found.items()], "words='{}'")}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _recalld recalld
"""


def _zsh(found: Mapping[str, Offer]) -> str:
    verbs = "\n".join(
        f"    '{verb}:{entry.summary.replace(chr(39), '')}'" for verb, entry in CATALOGUE.items()
    )
    return f"""#compdef recalld
_recalld() {{
  local -a verbs=(
{verbs}
    'help:explain a verb'
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  local word verb="$words[2]" previous="$words[CURRENT-1]"
  for word in "${{(@)words[3,CURRENT-1]}}"; do
    case "$verb $word" in
    {_deeds(found)}) verb="$verb $word"; break ;;
    esac
  done
  if [[ "$PREFIX" == --*=* ]]; then
    previous="${{PREFIX%%=*}}"
    compset -P '*='
  elif [[ "$verb" == '{_ROLES_OF}' && "$PREFIX" == *=* ]]; then
    compset -P '*='
    compadd -- {" ".join(ROLES)}
    return
  fi
  case "$verb $previous" in
{_cases(_valued(found, listed=True), "compadd -- {}; return")}
{_cases(_valued(found, listed=False), "_files; return{}")}
    'help help') _describe verb verbs; return ;;
  esac
  case "$verb" in
{_cases([(typed, offer.all) for typed, offer in found.items()], "compadd -- {}")}
  esac
  _files
}}
compdef _recalld recalld
"""


_FISH = f"""function __recalld_at
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"; or return 1
    set -q argv[2]; or return 0
    for deed in $argv[2..]
        contains -- $deed $words[3..]; and return 0
    end
    return 1
end
function __recalld_roles
    string match -rq '^(?<name>[^=]+)=' -- (commandline -ct); or return
    printf '%s\\n' $name={{{",".join(ROLES)}}}
end
function __recalld_first
    test (count (commandline -opc)) -eq 1
end
complete -c recalld -f
complete -c recalld -n __recalld_first -a help -d 'explain a verb'
complete -c recalld -n '__recalld_at help' -a '{" ".join(CATALOGUE)}'"""


def _fish(found: Mapping[str, Offer]) -> str:
    lines = [_FISH]
    for verb, entry in CATALOGUE.items():
        about = entry.summary.replace("'", "")
        lines.append(f"complete -c recalld -n __recalld_first -a {verb} -d '{about}'")
    for typed, offer in found.items():
        rule = f"complete -c recalld -n '__recalld_at {typed}'"
        if offer.deeds:
            deeds = " ".join(offer.deeds)
            chosen = f"__recalld_at {typed} {deeds}"
            lines.append(
                f"complete -c recalld -n '__recalld_at {typed}; and not {chosen}' -a '{deeds}'"
            )
        elif offer.words:
            lines.append(f"{rule} -a '{' '.join(offer.words)}'")
        for option, values in offer.options.items():
            lines.append(f"{rule} -l {option[2:]}{_fish_value(typed, option, values)}")
    return "\n".join(lines)


def _fish_value(typed: str, option: str, values: tuple[str, ...] | None) -> str:
    """What an option takes, as fish wants it said."""
    if values is None:
        return ""
    if (typed, option) == (_ROLES_OF, "--namespace"):
        return " -x -a '(__recalld_roles)'"
    return f" -x -a '{' '.join(values)}'" if values else " -r -F"


SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
"""From what can follow each verb to the script of each shell."""

VERBS = {
    "completion": Verb(
        _arguments,
        _completion,
        "Print a completion script; load it from your shell's start-up file.",
        'eval "$(recalld completion bash)"',
    )
}
