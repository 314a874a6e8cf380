"""Digests: what the SDK's servers compile from entries and look up when they brief an agent."""

from collections.abc import Sequence

from amfs_core.exclusions import is_excluded_agent, is_excluded_entity
from amfs_core.models import Digest, DigestType

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.models import DEFAULT_NAMESPACE, MAIN_BRANCH
from amfs_sqlite.rules.limits import (
    check_count,
    check_instant,
    check_is_text,
    check_name,
    check_optional_text,
    check_texts,
)
from amfs_sqlite.rules.values import decode, encode
from amfs_sqlite.sqlite import digests
from amfs_sqlite.sqlite.digests import Asked
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked, under


def upsert_digest(tx: Transaction, digest: Digest) -> None:
    """Store a digest in place of the one of its namespace, branch, type and scope."""
    digest = checked(digest, Digest, "digest")
    check_name(digest.scope, "scope")
    encode(digest.summary, "summary")
    compiled_at = check_instant(digest.compiled_at, "compiled_at") or tx.now
    record = encode(digest.model_dump(mode="json"), "digest")
    with under(tx, digest.namespace, digest.branch):
        digests.put(tx, digest.digest_type.value, digest.scope, compiled_at, record)


def get_digest(
    tx: Transaction,
    digest_type: DigestType,
    scope: str,
    namespace: str = DEFAULT_NAMESPACE,
    branch: str = MAIN_BRANCH,
) -> Digest | None:
    check_is_text(scope, "scope")
    asked = Asked(digest_type=_name(digest_type), scope=scope)
    return next(iter(_found(tx, asked, namespace, branch, 1)), None)


def list_digests(
    tx: Transaction,
    digest_type: DigestType | None = None,
    namespace: str = DEFAULT_NAMESPACE,
    branch: str = MAIN_BRANCH,
    *,
    scope: str | None = None,
    written_by: str | None = None,
    relevant_to: Sequence[str] | None = None,
    limit: int | None = None,
) -> list[Digest]:
    """Compiled last first. ``written_by`` keeps those of a path where that agent wrote something current,
    ``relevant_to`` those of which one of these texts is the scope or stands in the summary.
    """
    check_optional_text(scope, "scope")
    check_optional_text(written_by, "written_by")
    check_texts([] if relevant_to is None else relevant_to, "relevant_to")
    check_count(limit, "limit")
    asked = Asked(
        digest_type=None if digest_type is None else _name(digest_type),
        scope=scope or None,
        scopes=_paths(tx, written_by, namespace, branch) if written_by else None,
        terms=[term for term in relevant_to or () if term],
    )
    return _found(tx, asked, namespace, branch, limit)


def _paths(tx: Transaction, agent_id: str, namespace: str, branch: str) -> list[str]:
    """Where the agent wrote what the SDK counts among its own."""
    with under(tx, namespace, branch):
        paths = [] if is_excluded_agent(agent_id) else digests.paths_of(tx, agent_id)
    return [path for path in paths if not is_excluded_entity(path)]


def _found(tx: Transaction, asked: Asked, namespace: str, branch: str, limit: int | None) -> list[Digest]:
    with under(tx, namespace, branch):
        return [Digest.model_validate(decode(record)) for record in digests.records(tx, asked, limit)]


def _name(digest_type: DigestType) -> str:
    if not isinstance(digest_type, DigestType):
        raise InvalidArgumentError("digest_type", f"is {quoted(digest_type)}; it must be a DigestType")
    return digest_type.value
