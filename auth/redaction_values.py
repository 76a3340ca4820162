"""Tells a secret value from what only stands where one would: examples, references, words, code."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable

MARKER = "[redacted:"
"""How every replacement begins; a value that holds one is never touched again."""

_SAMPLE = (
    r"example|x{5,}|\*{3,}|\.{3}|…|y?our[_-]|placeholder|dummy|fake|insert|_here\b|redacted|"
    r"change[_-]?(?:me|this|it)|replace[_-]?(?:me|this|with)|not[_-]an?[_-]|todo|(?<![a-z0-9])<[^>]{0,80}>"
)
_REFERENCE = (
    r"\\*(?:\$\{|\$\(|\$[A-Za-z_]\w*(?:[/.:;,)}]|$)|\{\{|\{[\w.]*\}|%\(|%[sdrv]|%\w+%|<|\[|"
    r"[&*!~-]*(?:process|os|env|config|settings|secrets|vars|self|this|request|ctx|cfg|opts?|args)"
    r"(?:\.|\[|->|::)|(?:https?|file|ssh|s3|op|vault|arn|sha\d+)[:~-]|"
    r"(?:~|\.{0,2})/[a-z._-]+/|[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)\w+)*[(\[]|"
    r"#[0-9A-Fa-f]{3,8}$)"
)
_WORDS = (
    r"true|false|null|none|nil|undefined|string|str|int|bool|bytes|number|any|optional|required|"
    r"example|redacted|hidden|secret|password|passwd|passphrase|pass|token|key|api_?key|todo|tbd|"
    r"test|testing|default|empty|unset|disabled|enabled|yes|no|not|is|was|the|and|from|value|"
    r"invalid|expired|missing|wrong|incorrect|correct|valid|self|this|user|username|admin"
)
_NAMES = r"passw|passphrase|secret|token|api.?key|credential"
_PHRASE = r"[A-Za-z]+(?:[_. -][A-Za-z]+)*"
_CODE = r"[&*!~-]*[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)*[!?]?"
_SENTENCE = (
    r"(?i)\b(?:must|should|can|enter|your|an?|is|are|was|the|least|required|invalid|incorrect|wrong|"
    r"characters?|digits?|letters?|please|not|no|with|for|or|and|to|of|in|on|at|here)\b|[.!?:] "
)
_LONGEST_PHRASE = 64
_TECHNICAL = r"(?i)(?:base|sha|md|utf|rsa|aes|bcrypt|argon|oauth|http|tls|ed|x|v|python|node)-?\d"
_PEEK = 96


def credible(kind: str, value: str) -> bool:
    """Whether text of a provider's shape can be a real secret of that kind."""
    if MARKER in value:
        return False
    check = _CHECKS.get(kind)
    if check is not None and not check(value):
        return False
    return kind == "private-key" or not is_sample(value)


def is_sample(value: str) -> bool:
    """Whether the value says that it is none: a documented example, a mask, a blank to fill in."""
    head = value[:_PEEK]
    return len(set(head)) < 3 or bool(re.search(_SAMPLE, head.lower()))


def is_reference(value: str) -> bool:
    """Whether the value names where the secret is (a variable, a call, a path) or is a hash."""
    return bool(re.match(_REFERENCE, value))


def is_strong(value: str) -> bool:
    """Whether the value looks generated: letters with digits, or long with both cases."""
    letters = value.lower() != value.upper()
    if letters and re.search(r"\d", value):
        return len(value) >= 8
    mixed = value != value.lower() and value != value.upper()
    return letters and mixed and len(value) >= 20 and not re.fullmatch(_PHRASE, value)


def is_phrase(value: str) -> bool:
    """Whether a quoted value with blanks can be a password: words, and no sentence about one."""
    if not re.search(r"[ \t]", value.strip()) or len(value) > _LONGEST_PHRASE:
        return False
    return not re.search(_SENTENCE, value) and not re.search(_NAMES, value.lower())


def is_password(value: str, *, literal: bool) -> bool:
    """Whether a value named password can be one; `literal` when quoted, or set in an environment.

    A bare word is code or prose there (`password = field`, `password: required`).
    """
    if len(value) < 4 or re.search(r"\s", value):
        return False
    digits = re.search(r"\d", value) is not None
    if not digits and re.search(_NAMES, value.lower()):
        return False
    if literal:
        return True
    return not re.fullmatch(_CODE, value) or (digits and not re.match(_NAMES, value.lower()))


def is_token(value: str) -> bool:
    """Whether a value named token, secret or key can be one: generated, and without a blank."""
    if re.search(r"\s", value) or not is_strong(value):
        return False
    return not re.fullmatch(r"[A-Za-z_]+\d{0,2}(?:[._/-][A-Za-z_]+\d{0,2})*", value) or (
        len(value) >= 20 and not re.search(r"[._/-]", value)
    )


def is_spoken(value: str) -> bool:
    """Whether a word after “the password is” can be one: letters with digits, no technical term."""
    mixed = re.search(r"\d", value) and value.lower() != value.upper()
    return bool(mixed) and len(value) >= 6 and not re.match(_TECHNICAL, value)


def is_ordinary(value: str) -> bool:
    """Whether the value is an example, a reference or a word that stands for any secret."""
    return (
        MARKER in value
        or re.fullmatch(_WORDS, value.lower().strip(":.,;!?")) is not None
        or is_reference(value)
        or is_sample(value)
    )


def _decoded(value: str) -> bytes:
    body = value.replace("-", "+").replace("_", "/")
    try:
        return binascii.a2b_base64(body + "=" * (-len(body) % 4))
    except ValueError:
        return b""


def _is_jwt(value: str) -> bool:
    header = _decoded(value.partition(".")[0])
    return header.startswith(b"{") and header.rstrip().endswith(b"}")


def _is_discord(value: str) -> bool:
    """A bot's token begins with its numeric id in base64."""
    return _decoded(value.partition(".")[0]).isdigit()


def _is_openai(value: str) -> bool:
    """OpenAI's carry a mark in the middle; those of relays are long and have no hyphen."""
    if "T3BlbkFJ" in value:
        return True
    if value.startswith(("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-", "sk-lf-")):
        return len(value) >= 60 or value.startswith("sk-lf-")
    body = value[3:]
    return len(body) >= 32 and body.isalnum() and is_strong(body)


def _is_authorization(value: str) -> bool:
    return not is_ordinary(value) and not re.fullmatch(r"[a-z-]{1,24}|[A-Z_]+", value)


def _is_key_body(value: str) -> bool:
    return bool(re.search(r"[A-Za-z0-9+/=]{16}", value))


def _is_url_password(value: str) -> bool:
    return not re.match(_REFERENCE, value) and not value.startswith(("$", "{", "%s"))


def _is_flag(value: str) -> bool:
    return not is_ordinary(value) and not value.isdigit()


def _is_cookie(value: str) -> bool:
    return not re.match(r"[\w.-]+=(?:\$|<|\{|\.\.\.)", value)


_CHECKS: dict[str, Callable[[str], bool]] = {
    "private-key": _is_key_body,
    "jwt": _is_jwt,
    "discord-token": _is_discord,
    "openai-key": _is_openai,
    "authorization": _is_authorization,
    "url-password": _is_url_password,
    "password": _is_flag,
    "cookie": _is_cookie,
}
