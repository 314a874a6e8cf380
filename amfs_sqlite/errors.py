"""Every error the product raises on purpose: one root, its facts as fields, a message of one line."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

QUOTED_CHARACTERS = 80


def quoted(given: object, limit: int = QUOTED_CHARACTERS) -> str:
    r"""What was stored or given, as it may stand in a message: escaped, cut visibly; text in quotes.

    >>> quoted("a\nb")
    "'a\\nb'"
    >>> quoted("x" * 100, limit=5)
    "'xxxxx'... (100 characters)"
    >>> quoted(-1), quoted(None), quoted(["x"]), quoted([1, 2, 3], limit=5)
    ('-1', 'None', "['x']", '[1, 2... (9 characters)')
    """
    whole = given if isinstance(given, str) else _represented(given)
    part, is_cut = whole[:limit], len(whole) > limit
    if isinstance(given, str):
        shown = ascii(part) if is_cut or not part.isprintable() else repr(part)
    else:
        shown = part if part.isprintable() else ascii(part)[1:-1]
    return f"{shown}... ({len(whole)} characters)" if is_cut else shown


def _represented(given: object) -> str:
    try:
        return repr(given)
    except Exception:  # noqa: BLE001 - foreign code: the refusal to be told is another one
        return f"<{type(given).__name__}>"


def _restore(kind: "type[AmfsError]", message: str, facts: dict[str, Any]) -> "AmfsError":
    error = kind.__new__(kind, message)
    error.args = (message,)
    error.__dict__.update(facts)
    return error


class AmfsError(Exception):
    """The root. ``code`` is stable and short; ``retryable`` says whether the same call may succeed later."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross process boundaries (multiprocessing) with their facts."""
        return _restore, (type(self), str(self), dict(self.__dict__))


class InvalidArgumentError(AmfsError, ValueError):
    """An argument that cannot be accepted. Nothing was stored."""

    code = "invalid_argument"

    def __init__(self, argument: str, problem: str) -> None:
        self.argument = argument
        self.problem = problem
        super().__init__(f"{argument} {problem}")


class InvalidCursorError(AmfsError, ValueError):
    """A cursor of another store, another query, or no cursor at all."""

    code = "invalid_cursor"

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"cursor {problem}; start again without a cursor")


class EntryNotFoundError(AmfsError, LookupError):
    """A reference that names nothing the caller can see.

    ``withdrawn`` says why nothing is there any more; None where nothing ever was, or where it is not known.
    """

    code = "not_found"

    def __init__(
        self,
        entity_path: str,
        key: str,
        version: int | None = None,
        withdrawn: Literal["archived", "erased"] | None = None,
    ) -> None:
        self.entity_path = entity_path
        self.key = key
        self.version = version
        self.withdrawn = withdrawn
        at = "" if version is None else f" at version {quoted(version)}"
        next_step = "search to see what is stored"
        if withdrawn is not None:
            next_step = f"it was {withdrawn}, and its history shows what is left of it"
        super().__init__(f"no entry {quoted(key)} under {quoted(entity_path)}{at}; {next_step}")


class AmbiguousReferenceError(AmfsError, LookupError):
    """A reference as text that fits several stored entries."""

    code = "ambiguous_reference"

    def __init__(self, reference: str, candidates: Sequence[tuple[str, str]]) -> None:
        self.reference = reference
        self.candidates = tuple(candidates)
        named = ", ".join(f"scope {quoted(path)} key {quoted(key)}" for path, key in self.candidates)
        super().__init__(f"{quoted(reference)} fits several entries: {named}; name scope and key apart")


class VersionConflictError(AmfsError):
    """The expected version is not the current one. Nothing was stored.

    ``actual`` is 0 where the key has no version yet; ``actual_agent_id`` is the author of the
    actual version, or None where there is none or it is private to another agent.
    """

    code = "version_conflict"

    def __init__(
        self, entity_path: str, key: str, expected: int, actual: int, actual_agent_id: str | None
    ) -> None:
        self.entity_path = entity_path
        self.key = key
        self.expected = expected
        self.actual = actual
        self.actual_agent_id = actual_agent_id
        by = "" if actual_agent_id is None else f" by {quoted(actual_agent_id)}"
        now = f"the current version is {actual}{by}" if actual else "it has no version yet"
        super().__init__(
            f"{quoted(key)} under {quoted(entity_path)} was expected at version {expected} but {now};"
            " read it again and decide"
        )


class IdempotencyConflictError(AmfsError):
    """An idempotency key that already stands for another request. Nothing was stored."""

    code = "idempotency_conflict"

    def __init__(self, agent_id: str, idempotency_key: str) -> None:
        self.agent_id = agent_id
        self.idempotency_key = idempotency_key
        super().__init__(
            f"idempotency key {quoted(idempotency_key)} of {quoted(agent_id)} was used for another"
            " request; use a new key for a new request"
        )


class OutcomeConflictError(AmfsError):
    """The same outcome_ref was already reported for this entry with another outcome. Nothing moved."""

    code = "outcome_conflict"

    def __init__(self, outcome_ref: str, entity_path: str, key: str, recorded: str, reported: str) -> None:
        self.outcome_ref = outcome_ref
        self.entity_path = entity_path
        self.key = key
        self.recorded = recorded
        self.reported = reported
        super().__init__(
            f"outcome {quoted(outcome_ref)} of {quoted(key)} under {quoted(entity_path)} is recorded"
            f" as {recorded}, not {reported}; report another outcome under another outcome_ref"
        )


class AdapterClosedError(AmfsError):
    """The adapter is not open: it was never opened, or it was closed."""

    code = "closed"

    def __init__(self, problem: str, advice: str = "open it with 'async with' or open()") -> None:
        super().__init__(f"the adapter {problem}; {advice}")


class ImportLineError(AmfsError, ValueError):
    """A line of an export that cannot be believed or does not fit. Nothing of its commit was imported.

    ``line`` is its number, from 1; ``commit_count`` is how many commits before it were imported, and stay.
    """

    code = "import_line"

    def __init__(self, line: int, problem: str, commit_count: int = 0) -> None:
        self.line = line
        self.problem = problem
        self.commit_count = commit_count
        kept = f"commits imported before it, and kept: {commit_count}"
        so_far = kept if commit_count else "nothing was imported"
        super().__init__(f"line {line} {problem}; {so_far}; export anew and import that, which goes on here")


class StoreError(AmfsError):
    """Something about the file itself. ``path`` is the resolved path."""

    code = "store_error"
    advice: ClassVar[str] = "see the cause below and check the file with verify"

    def __init__(self, path: str, problem: str, advice: str | None = None) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{quoted(path, 400)}: {problem}; {advice or self.advice}")


class StoreBusyError(StoreError):
    """Another process held the write lock for longer than the busy timeout. Nothing was stored."""

    code = "busy"
    retryable = True
    advice = "try again, and look for a process that keeps a transaction open"


class StoreFullError(StoreError):
    """No room for the change. The whole transaction was rolled back."""

    code = "full"
    advice = "free some space and try again; what was acknowledged before is kept"


class StoreReadOnlyError(StoreError):
    """The file, or its folder, cannot be written, or it was opened for reading alone. Nothing was stored."""

    code = "read_only"
    advice = "make the file and its folder writable for this user, or open it for reading alone"


class StoreUnavailableError(StoreError):
    """The file cannot be opened, read or written by this process."""

    code = "unavailable"
    advice = "check the path, its permissions and the disk"


class StoreCorruptError(StoreError):
    """SQLite found damaged pages. Nothing was repaired or overwritten."""

    code = "corrupt"
    advice = "keep the file and its -wal as they are and restore a backup beside them"


class ForeignFileError(StoreError):
    """The file is no store of ours. It was left untouched."""

    code = "foreign_file"
    advice = "choose another path; the file was left untouched"


class NewerSchemaError(StoreError):
    """The file was written by a newer release. It was left untouched."""

    code = "newer_schema"
    advice = "update amfs-sqlite, or restore a backup: migrating keeps one beside it, as .before-schema-N"

    def __init__(self, path: str, found: int, supported: int) -> None:
        self.found = found
        self.supported = supported
        super().__init__(path, f"has schema {found}, newer than {supported}, the newest known here")
