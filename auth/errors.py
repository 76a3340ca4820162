"""The one error tree, shared by the daemon, the SDK and the command line.

    RecalldError                    internal            500  exit 70
    |- InvalidRequest               invalid_request     400  exit 64
    |  |- MalformedBody             malformed_body      400
    |  |- BlankQuery                blank_query         400
    |  |- InvalidNamespace          invalid_namespace   400
    |  |- MethodNotAllowed          method_not_allowed  405
    |  |- UnsupportedMediaType      unsupported_media   415
    |  |- PayloadTooLarge           payload_too_large   413
    |  |- HeadersTooLarge           headers_too_large   431
    |  `- RequestTimeout            request_timeout     408
    |- AccessDenied                 forbidden           403  exit 77
    |  |- Unauthenticated           unauthenticated     401
    |  |- GrantElsewhere            grant_elsewhere     401
    |  |- ForeignHost               foreign_host        421
    |  |- ForeignOrigin             foreign_origin      403
    |  `- PinUnconfirmed            pin_unconfirmed     403
    |- NotFound                     not_found           404  exit 66
    |- Conflict                     conflict            409  exit 65
    |  `- IdempotencyMismatch       idempotency_mismatch 409
    |- Unavailable                  unavailable         503  exit 75
    |  |- Busy                      busy                429
    |  |- Draining                  draining            503
    |  |- DeadlineExceeded          deadline_exceeded   503
    |  `- AlreadyRunning            already_running     503
    |- StorageTrouble               storage_trouble     503  exit 74
    |  |- DiskFull                  disk_full           507
    |  |- StoreDamaged              store_damaged       503  exit 78
    |  |- SchemaNewer               schema_newer        503  exit 78
    |  |- UnsafePermissions         unsafe_permissions  503  exit 78
    |  `- UnsafeFileSystem          unsafe_file_system  503  exit 78
    |- InvalidSettings              invalid_settings    503  exit 78
    `- DaemonUnreachable            daemon_unreachable  503  exit 69
       |- StartFailed               start_failed        503
       |- DaemonSilent              daemon_silent       503  exit 75
       |- ImposterDetected          imposter            503
       `- ClientTooOld              client_too_old      503  exit 78

Each class owns its wire code, its HTTP status and its exit code (sysexits.h where one fits).
Nothing heavier than the language itself is imported here: hooks pay for every import.
"""

from __future__ import annotations

from typing import cast


class RecalldError(Exception):
    """Something failed that is not the caller's fault; the base of every error we raise on purpose.

    `message` is one sentence for a person, `hint` the remedy (often a command to run), and
    `retry_after_ms` says when trying again makes sense. All three travel over the wire.
    """

    code = "internal"
    status = 500
    exit_code = 70

    def __init__(
        self, message: str, *, hint: str | None = None, retry_after_ms: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retry_after_ms = retry_after_ms

    def to_wire(self) -> dict[str, dict[str, str | int]]:
        """The JSON body: `{"error": {"code", "message", "hint", "retry_after_ms"?}}`."""
        error: dict[str, str | int] = {"code": self.code, "message": self.message}
        error["hint"] = self.hint or ""
        if self.retry_after_ms is not None:
            error["retry_after_ms"] = self.retry_after_ms
        return {"error": error}


class InvalidRequest(RecalldError):
    """The request does not make sense as it stands; sending it again will not help."""

    code = "invalid_request"
    status = 400
    exit_code = 64


class MalformedBody(InvalidRequest):
    """The body is not the JSON it should be: broken, too deep, or not UTF-8."""

    code = "malformed_body"


class BlankQuery(InvalidRequest):
    """A query with nothing to look for; returning everything would be a lie."""

    code = "blank_query"


class InvalidNamespace(InvalidRequest):
    """The name does not follow the namespace grammar."""

    code = "invalid_namespace"


class MethodNotAllowed(InvalidRequest):
    """The route exists, but not for this method."""

    code = "method_not_allowed"
    status = 405
    allowed: tuple[str, ...] = ()
    """The methods it has, where that is known."""


class UnsupportedMediaType(InvalidRequest):
    """A body that is not declared as JSON; web pages can send those without asking."""

    code = "unsupported_media"
    status = 415


class PayloadTooLarge(InvalidRequest):
    """The body, or one field of it, is over its limit."""

    code = "payload_too_large"
    status = 413


class HeadersTooLarge(InvalidRequest):
    """The request head is over its limit."""

    code = "headers_too_large"
    status = 431


class RequestTimeout(InvalidRequest):
    """The client took too long to send its request."""

    code = "request_timeout"
    status = 408


class AccessDenied(RecalldError):
    """The grant does not cover this; says nothing about whether the thing exists."""

    code = "forbidden"
    status = 403
    exit_code = 77


class Unauthenticated(AccessDenied):
    """No token, an unknown one, a revoked one, or an expired one: the answer is the same."""

    code = "unauthenticated"
    status = 401


class GrantElsewhere(AccessDenied):
    """The token belongs to another checkout: the folder was moved or copied."""

    code = "grant_elsewhere"
    status = 401


class ForeignHost(AccessDenied):
    """The Host header is not the loopback address we published (DNS rebinding)."""

    code = "foreign_host"
    status = 421


class ForeignOrigin(AccessDenied):
    """A browser sent this on behalf of a page that is not ours."""

    code = "foreign_origin"
    status = 403


class PinUnconfirmed(AccessDenied):
    """A config file in the checkout names a namespace its owner has not confirmed."""

    code = "pin_unconfirmed"


class NotFound(RecalldError):
    """There is no such thing, or the grant may not know about it."""

    code = "not_found"
    status = 404
    exit_code = 66


class Conflict(RecalldError):
    """The thing changed since the caller last saw it, or cannot be changed that way now."""

    code = "conflict"
    status = 409
    exit_code = 65


class IdempotencyMismatch(Conflict):
    """The idempotency key was used before for a different request."""

    code = "idempotency_mismatch"


class Unavailable(RecalldError):
    """Not now; the request was not executed and may be sent again."""

    code = "unavailable"
    status = 503
    exit_code = 75


class Busy(Unavailable):
    """All workers are taken and the waiting room is full."""

    code = "busy"
    status = 429


class Draining(Unavailable):
    """The daemon is on its way out; nothing was executed, a new one can be asked."""

    code = "draining"


class DeadlineExceeded(Unavailable):
    """The work did not end within its time."""

    code = "deadline_exceeded"


class AlreadyRunning(Unavailable):
    """Another daemon holds the lock of this data folder."""

    code = "already_running"


class StorageTrouble(RecalldError):
    """The store could not do its part."""

    code = "storage_trouble"
    status = 503
    exit_code = 74


class DiskFull(StorageTrouble):
    """No space left; nothing was written, reads keep working."""

    code = "disk_full"
    status = 507


class StoreDamaged(StorageTrouble):
    """memory.db does not hold together; every byte is kept and nothing is written."""

    code = "store_damaged"
    status = 503
    exit_code = 78


class SchemaNewer(StorageTrouble):
    """memory.db was written by a newer recalld than this one."""

    code = "schema_newer"
    status = 503
    exit_code = 78


class UnsafePermissions(StorageTrouble):
    """A file or folder that must be ours alone is open to others or belongs to someone else."""

    code = "unsafe_permissions"
    status = 503
    exit_code = 78


class UnsafeFileSystem(StorageTrouble):
    """The data folder lies on a file system without the locks SQLite needs."""

    code = "unsafe_file_system"
    status = 503
    exit_code = 78


class InvalidSettings(RecalldError):
    """A setting in config.toml or the environment has an unknown name or an impossible value."""

    code = "invalid_settings"
    status = 503
    exit_code = 78


class DaemonUnreachable(RecalldError):
    """No daemon answered and none could be reached."""

    code = "daemon_unreachable"
    status = 503
    exit_code = 69


class StartFailed(DaemonUnreachable):
    """A new daemon was started and died, or never became ready."""

    code = "start_failed"


class DaemonSilent(DaemonUnreachable):
    """A daemon holds the lock but does not answer within the deadline."""

    code = "daemon_silent"
    exit_code = 75


class ImposterDetected(DaemonUnreachable):
    """Something else answers on the published port; nothing secret was sent to it."""

    code = "imposter"


class ClientTooOld(DaemonUnreachable):
    """The daemon no longer speaks this client's API; the client must be upgraded."""

    code = "client_too_old"
    exit_code = 78


def every_error() -> dict[str, type[RecalldError]]:
    """Every class of the tree by its wire code."""
    found: dict[str, type[RecalldError]] = {}
    waiting: list[type[RecalldError]] = [RecalldError]
    while waiting:
        cls = waiting.pop()
        found[cls.code] = cls
        waiting.extend(cls.__subclasses__())
    return found


def from_wire(body: object, status: int) -> RecalldError:
    """The error a daemon answered with; an unknown code becomes the base class, never a crash."""
    error = _members(_members(body).get("error"))
    if not error:
        return RecalldError(f"The daemon answered {status} without saying why.")
    cls = every_error().get(str(error.get("code")), RecalldError)
    retry = error.get("retry_after_ms")
    return cls(
        str(error.get("message") or "") or f"The daemon answered {status}.",
        hint=str(error.get("hint") or "") or None,
        retry_after_ms=retry if isinstance(retry, int) else None,
    )


def _members(value: object) -> dict[str, object]:
    """The members of a decoded JSON object; none for any other value."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
