"""One grant: what the bearer of a token may do in which namespaces, and its form in the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal, cast, get_args

from . import namespaces
from .errors import InvalidRequest

Action = Literal["read", "write", "administer"]
"""What can be asked of a namespace; administer is forgetting others' rows, import and restore."""
ACTIONS: tuple[Action, ...] = get_args(Action)


class Role(StrEnum):
    """How far a grant reaches in one namespace; each role includes the ones before it."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"

    def allows(self, action: Action) -> bool:
        """Whether the role covers the action."""
        return action in _ALLOWED[self]


_ALLOWED: dict[Role, tuple[Action, ...]] = {
    Role.VIEWER: ("read",),
    Role.EDITOR: ("read", "write"),
    Role.ADMIN: ("read", "write", "administer"),
}


@dataclass(frozen=True, slots=True)
class Grant:
    """A set of rights, known by the digest of its token.

    `token_sha256` is 64 hex digits; `checkout` the real path of the one checkout it is good for, or
    None for anywhere; the times are RFC 3339 UTC with milliseconds, `expires_at` None for never.
    """

    id: str
    token_sha256: str
    namespaces: Mapping[str, Role]
    checkout: str | None
    created_at: str
    expires_at: str | None
    label: str

    def allows(self, namespace: str, action: Action) -> bool:
        """Whether the bearer may do this there; a namespace that was not granted allows nothing."""
        role = self.namespaces.get(namespace)
        return role is not None and role.allows(action)

    def reach(self, action: Action) -> tuple[str, ...]:
        """Every namespace where the bearer may do this, in the order they were granted."""
        return tuple(name for name, role in self.namespaces.items() if role.allows(action))

    def home(self) -> str | None:
        """Where a write goes that names no namespace: the first project's, else the first writable.

        None when the grant can write nowhere.
        """
        writable = self.reach("write")
        projects = (name for name in writable if name.startswith("project:"))
        return next(projects, writable[0] if writable else None)


def timestamp(seconds: float) -> str:
    """Seconds since the epoch as RFC 3339 UTC with milliseconds; sorts by time."""
    return _formatted(datetime.fromtimestamp(seconds, UTC))


def _formatted(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def normal_time(text: str) -> str:
    """A point in time in our form, from any RFC 3339 form; raises InvalidRequest for no time zone.

    Times of one form compare as strings.
    """
    try:
        when = datetime.fromisoformat(text)
        if when.tzinfo is not None:
            return _formatted(when)
    except (ValueError, OverflowError):
        pass
    raise InvalidRequest(
        f"{text!r} is not a point in time.", hint="Write it like 2026-01-31T12:00:00Z."
    )


def normal_namespaces(wanted: Mapping[str, str]) -> dict[str, Role]:
    """Namespaces and roles as a grant keeps them; raises InvalidNamespace or InvalidRequest."""
    if not wanted:
        raise InvalidRequest("A grant needs a namespace.", hint="Name one with --namespace.")
    return {namespaces.parse(name): _role(role) for name, role in wanted.items()}


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        raise InvalidRequest(
            f"{name!r} is not a role.", hint="Roles are viewer, editor and admin."
        ) from None


def encode(grant: Grant) -> dict[str, object]:
    """The grant as a JSON object of the file."""
    return {
        "id": grant.id,
        "token_sha256": grant.token_sha256,
        "namespaces": dict(grant.namespaces),
        "checkout": grant.checkout,
        "created_at": grant.created_at,
        "expires_at": grant.expires_at,
        "label": grant.label,
    }


def decode(document: object) -> Grant:
    """The grant of one JSON object of the file; raises ValueError for anything not written by us.

    Nothing is guessed: a half-understood grant could reach further than the owner meant.
    """
    members = cast("dict[str, object]", document) if isinstance(document, dict) else {}
    match members:
        case {
            "id": str(grant_id),
            "token_sha256": str(token_sha256),
            "namespaces": roles,
            "checkout": str() | None as checkout,
            "created_at": str(created_at),
            "expires_at": str() | None as expires_at,
            "label": str(label),
        } if len(token_sha256) == 64 and isinstance(roles, dict):
            named = cast("dict[str, object]", roles)
        case _:
            raise ValueError("an entry lacks a field")
    try:
        reach = normal_namespaces({name: str(role) for name, role in named.items()})
        until = None if expires_at is None else normal_time(expires_at)
    except InvalidRequest as error:
        raise ValueError(f"in {grant_id}, {error.message}") from None
    return Grant(grant_id, token_sha256, reach, checkout, created_at, until, label)
