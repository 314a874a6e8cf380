"""A durable, versioned, tamper-evident memory for AI agents in one SQLite file.

``__all__`` is the promise, and what docs/reference/python.md names in a module; all else may change in any
release.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from amfs_sqlite.clock import Clock, CountedIds, FixedClock, IdSource, RandomIds, SystemClock
from amfs_sqlite.errors import (
    AdapterClosedError,
    AmbiguousReferenceError,
    AmfsError,
    EntryNotFoundError,
    ForeignFileError,
    IdempotencyConflictError,
    ImportLineError,
    InvalidArgumentError,
    InvalidCursorError,
    NewerSchemaError,
    OutcomeConflictError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
    VersionConflictError,
)
from amfs_sqlite.models import (
    ArtifactRef,
    Change,
    ChangeEvent,
    Commit,
    CommitEntry,
    CommitResult,
    EntryRef,
    Finding,
    MemoryEntry,
    MemoryStats,
    Outcome,
    OutcomeEffect,
    OutcomeRecord,
    OutcomeType,
    Provenance,
    RecordedOutcome,
    RetentionReport,
    ScopeInfo,
    SearchPage,
    SearchQuery,
    VerifyReport,
    Write,
)
from amfs_sqlite.protocol import AmfsAdapter
from amfs_sqlite.protocol.changes import Callback, WatchHandle
from amfs_sqlite.rules.anchors import Anchor, AnchorSignature
from amfs_sqlite.rules.confidence import AMFS_0_3, HANDOFF, OutcomePolicy
from amfs_sqlite.rules.export_reading import ExportReader
from amfs_sqlite.rules.redaction import Redacted, redact
from amfs_sqlite.rules.transfer import ExportReport, ImportConflict, ImportReport

if TYPE_CHECKING:
    from amfs_sqlite.agent import (
        OUTCOME_MULTIPLIERS,
        AgentMemory,
        CausalEntry,
        Explanation,
        ExternalContext,
        MemoryScope,
        MemoryTransaction,
        OutcomeBackPropagator,
        ReadOnlyScopeError,
        ReadTracker,
        RecallConfig,
        ScoreBreakdown,
        ScoredEntry,
        VerificationResult,
    )
    from amfs_sqlite.reference import ReferenceAdapter
    from amfs_sqlite.sqlite import BackupReport, RestoreReport, SqliteAdapter, restore
else:
    _SQLITE = ("BackupReport", "RestoreReport", "SqliteAdapter", "restore")
    _ADAPTERS = {"ReferenceAdapter": "amfs_sqlite.reference"} | dict.fromkeys(_SQLITE, "amfs_sqlite.sqlite")

    def __getattr__(name: str) -> object:
        """Adapters and agent memory are imported when first asked for: no program needs all of them."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = import_module(_ADAPTERS.get(name, "amfs_sqlite.agent"))
        return globals().setdefault(name, getattr(home, name))

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "AMFS_0_3",
    "HANDOFF",
    "OUTCOME_MULTIPLIERS",
    "AdapterClosedError",
    "AgentMemory",
    "AmbiguousReferenceError",
    "AmfsAdapter",
    "AmfsError",
    "Anchor",
    "AnchorSignature",
    "ArtifactRef",
    "BackupReport",
    "Callback",
    "CausalEntry",
    "Change",
    "ChangeEvent",
    "Clock",
    "Commit",
    "CommitEntry",
    "CommitResult",
    "CountedIds",
    "EntryNotFoundError",
    "EntryRef",
    "Explanation",
    "ExportReader",
    "ExportReport",
    "ExternalContext",
    "Finding",
    "FixedClock",
    "ForeignFileError",
    "IdSource",
    "IdempotencyConflictError",
    "ImportConflict",
    "ImportLineError",
    "ImportReport",
    "InvalidArgumentError",
    "InvalidCursorError",
    "MemoryEntry",
    "MemoryScope",
    "MemoryStats",
    "MemoryTransaction",
    "NewerSchemaError",
    "Outcome",
    "OutcomeBackPropagator",
    "OutcomeConflictError",
    "OutcomeEffect",
    "OutcomePolicy",
    "OutcomeRecord",
    "OutcomeType",
    "Provenance",
    "RandomIds",
    "ReadOnlyScopeError",
    "ReadTracker",
    "RecallConfig",
    "RecordedOutcome",
    "Redacted",
    "ReferenceAdapter",
    "RestoreReport",
    "RetentionReport",
    "ScopeInfo",
    "ScoreBreakdown",
    "ScoredEntry",
    "SearchPage",
    "SearchQuery",
    "SqliteAdapter",
    "StoreBusyError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreReadOnlyError",
    "StoreUnavailableError",
    "SystemClock",
    "VerificationResult",
    "VerifyReport",
    "VersionConflictError",
    "WatchHandle",
    "Write",
    "redact",
    "restore",
]
