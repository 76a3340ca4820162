"""The shapes of secrets told by what stands around them: keys in PEM, URLs, headers, flags.

The same promises hold as for the providers' rules: strings only, and linear time.
"""

from __future__ import annotations

from .redaction_rules import PROVIDERS, Rule, anchored

JWT = Rule(
    "jwt",
    ("eyj",),
    anchored("eyJ", "A-Za-z0-9_-") + r"[\w-]{10,}+\.eyJ[\w-]{10,}+(?:\.[\w-]*+)?",
)

PEM_KEY = Rule(
    "private-key",
    ("private key",),
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"((?:\\[nr]|[\s\"'|>+,#*]"
    r"|[A-Za-z0-9-]{4,20}: ?[^\n\\]{1,100}(?=\\n|\n)"  # Proc-Type, DEK-Info, Version, Comment
    r"|[A-Za-z0-9+/=]{4,})*+)",
)
"""Up to where the base64 ends, so that a key cut off before its END line is found as well."""

ADDRESSES = (
    Rule(
        "url-password",
        ("://",),
        r"://[^\s/?#:@\"'`<>]{0,128}:([^\s/?#\"'`<>]{1,256})@(?=[\w\[.-])",
    ),
    Rule("url-password", ("://",), r"://([A-Za-z0-9_-]{32,255})(?=(?::[\w-]{0,40})?@)"),
    Rule(
        "webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w+/-]{20,}+)",
    ),
    Rule(
        "webhook",
        ("/webhooks/",),
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{1,20}/([\w-]{40,}+)",
    ),
    Rule(
        "url-signature",
        ("sig",),
        r"[?&;](?:amp;)?(?i:sig|signature|x-amz-signature|x-goog-signature)=([\w%+/=-]{32,}+)",
    ),
)

_SCHEME = r"(?:[a-z][a-z0-9-]{1,20}[ \t]{1,4})?"
_IS = r"[\"'`\]\\]{0,4}[ \t]{0,4}(?::|=>|=|,)[ \t]{0,4}[bf]?\\{0,3}[\"'`]?"

HEADERS = (
    Rule(
        "authorization",
        ("authorization",),
        rf"(?i)authorization{_IS}{_SCHEME}([^\s\"'`\\<>{{}}$,;]{{8,}}+)",
    ),
    Rule(
        "authorization",
        ("authorization",),
        rf"(?i)authorization{_IS}digest[ \t]{{1,4}}([^\r\n']{{8,}}+)",
    ),
    Rule(
        "authorization",
        ("signature=",),
        r"(?i)aws4-hmac-sha256[^\r\n]{1,400}?signature=([0-9a-f]{64})",
    ),
    Rule("cookie", ("set-cookie",), rf"(?i)set-cookie{_IS}[\w.-]{{1,64}}=([^\s;\"'`\\]{{8,}}+)"),
    Rule(
        "cookie",
        ("cookie",),
        rf"(?i)(?<![\w-])cookie{_IS}([\w.-]{{1,64}}=[^\r\n\"'`\\]{{4,}}+)",
    ),
)

_NEAR = r"\b[^\n]{0,200}?[ \t]"
_GIVEN = r"[\"']?([^\s\"']{3,}+)"

FLAGS = (
    Rule(
        "password",
        ("curl", "wget", "http"),
        rf"\b(?:curl|wget|https?){_NEAR}(?:-u|--user|--proxy-user|-U)[ =]{{0,4}}[\"']?"
        r"[^\s:\"']{1,100}:([^\s\"']{3,}+)",
    ),
    Rule(
        "password",
        ("--user", "--proxy-user"),
        r"--(?:proxy-)?user[ =]{1,4}[\"']?[^\s:\"'/]{1,100}:([^\s\"'/]{3,}+)",
    ),
    Rule(
        "password", ("mysql", "mariadb"), rf"\b(?:mysql|mariadb)[a-z]{{0,8}}{_NEAR}-p(?!-){_GIVEN}"
    ),
    Rule("password", ("sshpass",), rf"\bsshpass[ \t]{{1,4}}-p[ \t]{{0,4}}{_GIVEN}"),
    Rule("password", ("redis-cli",), rf"\bredis-cli{_NEAR}-a[ \t]{{1,4}}{_GIVEN}"),
    Rule(
        "password",
        ("docker login", "podman login"),
        rf"\b(?:docker|podman) login{_NEAR}-p[ \t]{{1,4}}{_GIVEN}",
    ),
)

RULES: tuple[Rule, ...] = (PEM_KEY, *PROVIDERS, JWT, *ADDRESSES, *HEADERS, *FLAGS)
"""All of them; where two claim the same text, the earlier names it."""

IMAGES = (
    r"(?:data:[a-z]{1,12}/[a-z0-9.+-]{1,40};base64,"
    r"|(?<![A-Za-z0-9+/])(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR))[A-Za-z0-9+/=]{32,}+"
)
"""Base64 pictures: anything found inside one is chance."""
