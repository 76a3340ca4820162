"""Secrets told by the name they are given: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`, prose.

One pattern finds a telling word, what follows it in the identifier, and the way to the value; then
name and value are judged. The value is judged on its first characters only and consumed only when
it is taken, so the work stays linear however words and quotes are nested.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from .redaction_values import (
    is_ordinary,
    is_password,
    is_phrase,
    is_spoken,
    is_strong,
    is_token,
)

_TELLING = (
    (
        "password",
        r"passw(?:or)?d|passphrase|passcode|passwort|contrase[nñ]a|mot_de_passe|pwd|pass|pw",
    ),
    (
        "apikey",
        r"(?:api|access|account|app|auth|subscription|consumer|service)[ _-]?key|credentials?",
    ),
    ("secret", r"(?:secret|private|signing|encryption|master|license)[ _-]?key|secret"),
    ("token", r"token|bearer|_auth(?![a-z])"),
)
_HINTS = ("pass", "pwd", "pw", "key", "secret", "token", "bearer", "_auth", "credential", "contra")

_WORD = "|".join(f"(?P<{kind}>{words})" for kind, words in _TELLING)
_NAME = rf"(?:{_WORD})(?P<rest>[\w.-]{{0,40}}+)"
_TYPED = (
    r"[ \t]{0,8}:[ \t]{0,4}[a-z][\w.\[\]|?]{0,30}[ \t]{0,4}=(?!=)"
    r"|[ \t]{1,4}(?:string|str)[ \t]{0,4}="
)
_WAY = (
    rf"(?:\\{{0,3}}[\"'`])?[\])]?(?P<way>{_TYPED}"
    r"|[ \t]{0,8}(?::?={1,3}|=>|!=|\?=|\+=|:)|[ \t]{1,4}value=|[ \t]{0,4}(?:\|\||\?\?|,|\()"
    r"|[ \t]{1,4}(?:is|was|are)(?:[ \t]{0,2}:)?|>)?"
    r"[ \t]{0,16}(?:[furb]{1,2}(?=[\"']))?(?P<quote>\\{0,3}[\"'`]+)?"
)
_QUOTED = {
    '"': r'(?:[^"\\\n]|\\[^\n])++',
    "'": r"(?:[^'\\\n]|\\[^\n])++",
    "`": r"[^`\n]++",
    "\\": r"[^\"'`\\\n]++",
}
_BARE = r"(?:[^\s\"'`,;&<\\]|\\\r?\n[ \t]*|\\[^\s\"'`nrt])++"
_SIGNED = r"(?:[^\s\"'`,;&<\\]|<(?!/)|[,;](?!\w[\w. -]{0,30}=)%s|\\\r?\n[ \t]*|\\[^\s\"'`nrt])++"
_WHOLE = _SIGNED % "|&"
_IN_QUERY = _SIGNED % ""
"""Bare values are judged up to the first sign that may be code's, and taken with what follows it:
half a password is a secret as well."""
_ENVIRONMENT = r"(?:[^\s\"'`\\]|\\\r?\n[ \t]*|\\[^\s\"'`nrt])++"
_PEEK = 96
_NAME_LENGTH = 40

_ABOUT = (
    r"(?i)(?:^|[_.-]|(?<=[a-z]))(?:type|counts?|usage|limits?|name|file|paths?|dir|url|urls|uri|ids?|"
    r"ref|len|length|size|field|label|env|var|hash|expir\w*|ttl|budget|policy|prompt|input|class|"
    r"errors?|format|max|min|index|costs?|rate|regex|pattern|manager|provider|store|storage|service|"
    r"endpoint|hint|help|reset|required|enabled|version|issuer|scopes?|at|header|prefix|rotation|"
    r"algorithm|alg|s)$"
)
"""Ends of names that say something about a secret: `token_count`, `passwordField`, `secrets`."""

_FIELD = (
    r"(?:user(?:[ _]?(?:name|id))?|uid|login|host|server|port|db(?:name)?|database|data source|"
    r"sslmode)=[^\s;,()]"
)
_FIELD_BEFORE = rf"(?i)(?:^|[\s;\"']){_FIELD}{{1,64}}[ ;]{{1,2}}$"
_FIELD_BEHIND = rf"(?i)[ ;]{{1,2}}{_FIELD}"
"""What stands beside the password in a connection string."""

_OTHER = (
    r"(?i)(?:page|next|prev|continuation|cursor|sync|csrf|num|max|min|eos|bos|pad|unk|stop|public|"
    r"no|not)[_-]?$"
)
"""Beginnings of names whose token is none that opens anything."""


def find(text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of each value whose name tells that it is secret."""
    if not any(hint in lowered for hint in _HINTS):
        return
    folded = lowered if len(lowered) == len(text) else _folded(text)
    pattern = _compiled(_NAME + _WAY)
    position = 0
    while (match := pattern.search(folded, position)) is not None:
        position = match.end()
        kind = _kind(match)
        if kind is None or not _is_name(text, match):
            continue
        found = _value(text, match, kind)
        if found is not None:
            yield (*found, kind)
            position = found[1]


def _folded(text: str) -> str:
    """Lower case in ASCII only: `lower()` makes two letters of some, and positions must agree."""
    return re.sub("[A-Z]+", lambda match: match.group().lower(), text)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _kind(match: re.Match[str]) -> str | None:
    kind = next(name for name in ("password", "apikey", "secret", "token") if match.group(name))
    if match.group("way") is None and match.end() == match.end("rest"):
        return None  # a word with nothing after it
    return "api-key" if kind == "apikey" else kind


def _before(text: str, match: re.Match[str]) -> str:
    """What of the identifier stands before the telling word."""
    start = position = match.start()
    floor = max(0, start - _NAME_LENGTH)
    while position > floor and (text[position - 1].isalnum() or text[position - 1] in "_-"):
        position -= 1
    return text[position:start]


def _name(text: str, match: re.Match[str]) -> str:
    return _before(text, match) + text[match.start() : match.end("rest")]


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Whether it is a word of the name (not `tokenizer`) and what it names is secret."""
    rest = text[match.start("rest") : match.end("rest")].rstrip(".-")
    word = text[match.start() : match.start("rest")]
    before = _before(text, match)
    if _same_word(word[-1], rest[:1]) or re.search(_ABOUT, rest):
        return False
    if len(word) <= 5 and not word.lower().startswith("token") and _same_word(before[-1:], word[0]):
        return False
    return not re.search(_OTHER, before)


def _same_word(left: str, right: str) -> bool:
    if not (left.isalpha() and right.isalpha()):
        return False
    return left.islower() == right.islower()


def _value(text: str, match: re.Match[str], kind: str) -> tuple[int, int] | None:
    """The span of the value when it is credible as what the name says."""
    quote = match.group("quote") or ""
    start = match.end()
    judged, taken = _patterns(text, match, quote)
    head = _compiled(judged).match(text, start, start + _PEEK)
    if head is None:
        return None
    value = _joined(_trimmed(head.group(), quote))
    if not _is_credible(text, match, kind, value):
        # What follows the sign may tell what its beginning does not.
        longer = _compiled(taken).match(text, start, start + _PEEK)
        more = _trimmed(longer.group(), quote) if longer is not None and not quote else ""
        signed = kind == "password" and len(more) > len(value) and is_strong(more)
        closed = text[head.end() : head.end() + 1] in tuple("\"'`\\")
        phrase = kind == "password" and quote and closed and _is_phrase(text, match, value)
        if not phrase and not (signed and _is_credible(text, match, kind, more)):
            return None
    whole = _compiled(taken).match(text, start)
    end = whole.end() if whole is not None else head.end()
    return start, start + len(_trimmed(text[start:end], quote))


def _patterns(text: str, match: re.Match[str], quote: str) -> tuple[str, str]:
    """What of the value is judged, and what is taken."""
    if quote:
        return _QUOTED[quote[0]], _QUOTED[quote[0]]
    if _is_environment(text, match):
        return _ENVIRONMENT, _ENVIRONMENT
    sign = match.start() - len(_before(text, match)) - 1
    return _BARE, _IN_QUERY if text[max(sign, 0) : sign + 1] in ("?", "&") else _WHOLE


def _is_phrase(text: str, match: re.Match[str], value: str) -> bool:
    """Whether words in quotes are a password's: in an environment, or with a digit among them."""
    if is_ordinary(value) or not is_phrase(value) or match.group("way") is None:
        return False
    name = _name(text, match)
    return name == name.upper() or re.search(r"\d", value) is not None


def _joined(value: str) -> str:
    """The value as the shell reads it, a line continuation inside taken out."""
    return re.sub(r"\\\r?\n[ \t]*", "", value)


def _trimmed(value: str, quote: str) -> str:
    return value if quote else value.rstrip(")]}>,.;:\\")


def _is_environment(text: str, match: re.Match[str]) -> bool:
    """`NAME=value` with a name in capitals and no blanks, as a shell or a .env file has it."""
    name = _name(text, match)
    return match.group("way") == "=" and name == name.upper() and match.end() == match.end("way")


def _is_credible(text: str, match: re.Match[str], kind: str, value: str) -> bool:
    way = (match.group("way") or "").strip()
    if not value or "://" in value or is_ordinary(value):
        return False
    quoted = match.group("quote") is not None
    if way in ("is", "was", "are", "is:", "was:"):
        return is_spoken(value) if kind == "password" else is_token(value)
    if way in ("", "(", ",", "||", "??"):
        return _is_given(text, match, kind, value, way, quoted=quoted)
    if way == ">":
        return text[match.start() - 1 : match.start()] in ("<", "_", "-") and is_strong(value)
    if way == ":" and not quoted and _name(text, match).strip("- ") == "PASS":
        return False  # a test's verdict
    if kind == "password":
        literal = (
            quoted or _is_environment(text, match) or _is_told_to_a_program(text, match, value)
        )
        return is_password(value, literal=literal)
    return is_token(value)


def _is_told_to_a_program(text: str, match: re.Match[str], value: str) -> bool:
    """Whether a bare word can be nothing but the value: `--password=…`, or a connection's fields.

    `user=app password=… host=db` is no code: there commas stand between, and variables behind.
    """
    if match.group("way") != "=" or match.end() != match.end("way"):
        return False
    before = _before(text, match)
    if before.startswith("--"):
        return True
    start, end = match.start() - len(before), match.end() + len(value)
    ahead, behind = text[max(0, start - _PEEK) : start], text[end : end + _PEEK]
    return bool(re.search(_FIELD_BEFORE, ahead) or re.match(_FIELD_BEHIND, behind))


def _is_given(
    text: str, match: re.Match[str], kind: str, value: str, way: str, *, quoted: bool
) -> bool:
    """Whether a value that only follows the name is its value: a flag's, SQL's, an argument's."""
    flag = _before(text, match).startswith("--")
    if way == "" and flag:
        return is_password(value, literal=True) if kind == "password" else is_token(value)
    if way == "" and match.group("token") == "bearer":
        return len(value) >= 16 and is_token(value)
    if way == "" and match.group("apikey") and not quoted:
        return len(value) >= 16 and is_token(value)
    return quoted and is_strong(value) and not re.search(r"\s", value)
