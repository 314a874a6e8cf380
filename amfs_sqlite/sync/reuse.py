"""Reuse: reads that a server gave a memory credit for, and what its pages tell of them."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from amfs_sqlite.errors import InvalidArgumentError
from amfs_sqlite.models import MAIN_BRANCH
from amfs_sqlite.rules.limits import (
    check_address,
    check_count,
    check_instant,
    check_name,
    check_optional_name,
    check_optional_text,
    check_texts,
    check_whole_number,
)
from amfs_sqlite.sqlite import reuse
from amfs_sqlite.sqlite.reuse import Asked, Reuse
from amfs_sqlite.sqlite.rows import moment
from amfs_sqlite.sqlite.transaction import Transaction


def record_reuse_event(
    tx: Transaction,
    entity_path: str,
    key: str,
    *,
    branch: str = MAIN_BRANCH,
    entry_version: int | None = None,
    written_by: str | None = None,
    reused_by: str | None = None,
    est_tokens_saved: int = 0,
    surface: str | None = None,
) -> None:
    """Record that a memory was reused: when, by whom, and what that is thought to have saved."""
    check_address(entity_path, key)
    check_name(branch, "branch")
    check_count(entry_version, "entry_version")
    check_optional_name(written_by, "written_by")
    check_optional_name(reused_by, "reused_by")
    check_whole_number(est_tokens_saved, "est_tokens_saved")
    check_optional_name(surface, "surface")
    with tx.elsewhere(branch=branch):
        reuse.record(
            tx, Reuse(entity_path, key, entry_version, written_by, reused_by, est_tokens_saved, surface)
        )


def reuse_summary(
    tx: Transaction,
    *,
    since: datetime,
    limit: int = 10,
    visible_agents: Collection[str] | None = None,
    agent: str | None = None,
    writer: str | None = None,
) -> dict[str, Any]:
    """Counts of the reads since then: in all, by entry, by reader, and the latest ones between agents.

    ``agent`` narrows to one reader, ``writer`` to what one author wrote; ``visible_agents`` are the readers
    that the caller may see, and an agent outside of them has nothing to tell.
    """
    check_whole_number(limit, "limit")
    check_optional_text(agent, "agent")
    check_optional_text(writer, "writer")
    check_texts([] if visible_agents is None else visible_agents, "visible_agents")
    named = {name for name in (agent, writer) if name}
    if visible_agents is not None and not (visible_agents and named <= {*visible_agents}):
        return _nothing()
    asked = Asked(asked_since(since), visible_agents, agent or None, writer or None)
    reads, saved, crossed, entries = reuse.totals(tx, asked)
    return {
        "reuses": reads,
        "memories_reused": entries,
        "est_tokens_saved": saved,
        "cross_surface": crossed,
        "top": [
            {"entity_path": path, "key": key, "reuses": count, "est_tokens_saved": tokens}
            for path, key, count, tokens in reuse.top(tx, asked, limit)
        ],
        "by_agent": [
            {"agent_id": agent_id, "reuses": count} for agent_id, count in reuse.by_agent(tx, asked, limit)
        ],
        "recent_cross_surface": [
            {
                "entity_path": path,
                "key": key,
                "written_by": author,
                "reused_by": reader,
                "at": moment(at).isoformat(),
            }
            for path, key, author, reader, at in reuse.recent_crossed(tx, asked, limit)
        ],
    }


def asked_since(since: datetime) -> datetime:
    """An instant that must be there. Raises InvalidArgumentError."""
    instant = check_instant(since, "since")
    if instant is None:
        raise InvalidArgumentError("since", "is missing; say from when on")
    return instant


def _nothing() -> dict[str, Any]:
    counts = dict.fromkeys(("reuses", "memories_reused", "est_tokens_saved", "cross_surface"), 0)
    return {**counts, "top": [], "by_agent": [], "recent_cross_surface": []}
