"""The store's faults as errors of the one tree; a test proves the table complete."""

from __future__ import annotations

from ...auth import errors
from ...storage import faults

TABLE: dict[type[faults.StorageFault], type[errors.RecalldError]] = {
    faults.StorageFault: errors.StorageTrouble,
    faults.NewerSchema: errors.SchemaNewer,
    faults.Damaged: errors.StoreDamaged,
    faults.FullDisk: errors.DiskFull,
    faults.DiskTrouble: errors.StorageTrouble,
    faults.Busy: errors.Busy,
    faults.Interrupted: errors.DeadlineExceeded,
    faults.Closed: errors.Draining,
    faults.MissingRow: errors.NotFound,
    faults.StaleVersion: errors.Conflict,
    faults.ForeignRow: errors.AccessDenied,
    faults.NothingToUndo: errors.InvalidRequest,
    faults.KeyReused: errors.IdempotencyMismatch,
    faults.Invalid: errors.InvalidRequest,
    faults.NoVectors: errors.StorageTrouble,
    faults.UnsafePlace: errors.UnsafePermissions,
}

HINTS: dict[type[faults.StorageFault], str] = {
    faults.NewerSchema: "Upgrade recalld, or restore the snapshot made before the upgrade.",
    faults.Damaged: (
        "Nothing was changed. Run `recalld doctor`; to go back, run `recalld stop` and put a backup"
        " in its place."
    ),
    faults.FullDisk: "Free some space; what was stored before is safe.",
    faults.StaleVersion: "Read it again and repeat the change.",
    faults.NothingToUndo: "To see every version of it: recalld history ID",
    faults.ForeignRow: "Only an admin of the namespace may change what others stored.",
}

RETRY_MS: dict[type[faults.StorageFault], int] = {faults.Busy: 250, faults.Closed: 0}


def translate(fault: faults.StorageFault) -> errors.RecalldError:
    """The error a client gets for a fault of the store."""
    kind = type(fault)
    target = TABLE.get(kind, errors.StorageTrouble)
    hint = HINTS.get(kind)
    if isinstance(fault, faults.UnsafePlace):
        hint = fault.fix
        if fault.kind == "file_system":
            target = errors.UnsafeFileSystem
    return target(str(fault), hint=hint, retry_after_ms=RETRY_MS.get(kind))
