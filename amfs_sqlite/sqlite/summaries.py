"""What current entries come to together, as the dashboards of the AMFS Python SDK show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from amfs_sqlite.rules.values import encode
from amfs_sqlite.sqlite.overlays import seen
from amfs_sqlite.sqlite.predicates import Conditions
from amfs_sqlite.sqlite.rows import microseconds
from amfs_sqlite.sqlite.transaction import Transaction

TABLES = "FROM current AS c LEFT JOIN recalls AS r ON r.key_id = c.id"
# In their order, so that means are those of a list of them.
ENTRIES = f"""
FROM (
    SELECT c.entity_path, c.key, c.agent_id, c.confidence, c.written_at, c.outcome_count, c.content_hash,
           c.value, c.extra, coalesce(r.recall_count, 0) AS recall_count
    {TABLES} WHERE {{conditions}} ORDER BY c.entity_path, c.key
) AS c"""
# AMFS's estimate of what a reading saves: by the length of the value, within bounds.
TOKENS_SAVED = """
coalesce(sum(CASE WHEN c.recall_count > 0 THEN c.recall_count * min(max(
    content_length(c.value) / :characters_per_token, :floor), :ceiling) END), 0)"""
TOTALS = f"""
SELECT count(*), mean(c.confidence), min(c.confidence), max(c.confidence),
       coalesce(sum(c.outcome_count > 0), 0), min(c.written_at), max(c.written_at) {ENTRIES}"""
REUSE = f"""
SELECT coalesce(sum(c.recall_count), 0), {TOKENS_SAVED}, coalesce(sum(c.written_at >= :week_ago), 0),
       coalesce(sum(c.written_at >= :two_weeks_ago AND c.written_at < :week_ago), 0) {ENTRIES}"""
BY_AGENT = f"SELECT c.agent_id, count(*) {ENTRIES} GROUP BY c.agent_id"
BY_PATH = f"SELECT c.entity_path, count(*) {ENTRIES} GROUP BY c.entity_path"
BY_TYPE = f"""
SELECT coalesce(CASE WHEN c.extra <> '{{{{}}}}' THEN json_extract(c.extra, '$.memory_type') END, :usual_type),
       count(*)
{ENTRIES} GROUP BY 1"""
CONFIDENCE_BY_PATH = f"SELECT mean(c.confidence) {ENTRIES} GROUP BY c.entity_path"
PAIRS = f"""
SELECT c.agent_id, c.entity_path, count(*), mean(c.confidence), max(c.written_at), min(c.written_at),
       sum(c.recall_count), sum(c.outcome_count > 0)
{ENTRIES} GROUP BY c.agent_id, c.entity_path ORDER BY c.entity_path, count(*) DESC, c.agent_id"""
# Of those that were written last together, the author of the first.
ENTITIES = f"""
SELECT c.entity_path, count(*) AS entry_count, mean(c.confidence) AS avg_confidence,
       max(c.written_at) AS last_updated, min(CASE WHEN c.place = 1 THEN c.agent_id END),
       json_group_array(DISTINCT c.agent_id), sum(c.content_hash <> ''),
       sum(c.recall_count) AS total_recalls, {TOKENS_SAVED}, count(*) OVER ()
FROM (
    SELECT *, row_number() OVER (PARTITION BY c.entity_path ORDER BY c.written_at DESC, c.key) AS place
    {ENTRIES} ORDER BY c.entity_path, c.key
) AS c
GROUP BY c.entity_path
HAVING (:writer IS NULL OR max(c.agent_id = :writer))
   AND (:least IS NULL OR avg_confidence >= :least)"""
ENTITY_ORDERS = {
    "last_updated": "last_updated DESC, c.entity_path",
    "entry_count": "entry_count DESC, c.entity_path",
    "total_recalls": "total_recalls DESC, c.entity_path",
    "avg_confidence": "avg_confidence DESC, c.entity_path",
    "avg_confidence_asc": "avg_confidence, c.entity_path",
    "entity_path": "c.entity_path",
}
LARGE = """
SELECT c.entity_path FROM current AS c WHERE {conditions} GROUP BY c.entity_path HAVING count(*) >= :least
ORDER BY count(*) DESC, c.entity_path LIMIT :limit"""
SCOPES = "SELECT DISTINCT c.entity_path, c.agent_id FROM current AS c WHERE {conditions}"
BESIDE = f"SELECT count(*), coalesce(sum(coalesce(r.recall_count, 0) = 0), 0) {TABLES} WHERE {{conditions}}"
KEYS_BESIDE = "SELECT c.key FROM current AS c WHERE {conditions} ORDER BY c.key LIMIT :limit"
AUTHORS = """
SELECT c.entity_path, c.key, c.agent_id FROM json_each(:refs) AS w CROSS JOIN current AS c
WHERE {conditions} AND c.entity_path = json_extract(w.value, '$[0]')
AND c.key = json_extract(w.value, '$[1]')"""


class Totals(NamedTuple):
    """Of all entries together; ``mean_confidence`` and what is behind it are None of none."""

    entry_count: int
    mean_confidence: float | None
    min_confidence: float | None
    max_confidence: float | None
    outcome_linked_count: int
    oldest: int | None
    newest: int | None


class Reuse(NamedTuple):
    """How often entries were read, what that is held to have saved, and how many came when."""

    recall_count: int
    tokens_saved: int
    this_week_count: int
    last_week_count: int


class TokenRule(NamedTuple):
    """By what a reading is estimated: tokens of a value, not fewer and not more than so many."""

    characters_per_token: int
    floor: int
    ceiling: int


class Pair(NamedTuple):
    """What an agent wrote at a path. Instants are microseconds."""

    agent_id: str
    entity_path: str
    entry_count: int
    mean_confidence: float
    last_written: int
    first_written: int
    recall_count: int
    outcome_linked_count: int


class Entity(NamedTuple):
    """What stands at a path; ``total`` is how many paths there are in all."""

    entity_path: str
    entry_count: int
    mean_confidence: float
    last_updated: int
    last_agent: str
    agents: str
    hashed_count: int
    recall_count: int
    tokens_saved: int
    total: int


@dataclass(frozen=True)
class Page:
    """Which paths: where this agent wrote, of at least this mean confidence; and how many, in which order."""

    writer: str | None = None
    min_confidence: float | None = None
    order: str = "last_updated"
    limit: int | None = None
    offset: int = 0


def totals(tx: Transaction, asked: Conditions) -> Totals:
    """Of those that match."""
    return Totals(*tx.row(TOTALS.format(conditions=asked), asked.parameters))


def reuse(tx: Transaction, asked: Conditions, rule: TokenRule, now: datetime) -> Reuse:
    """Of those that match; the weeks are those before ``now``."""
    weeks = {
        "week_ago": microseconds(now - timedelta(days=7)),
        "two_weeks_ago": microseconds(now - timedelta(days=14)),
    }
    parameters = asked.parameters | rule._asdict() | weeks
    return Reuse(*tx.row(REUSE.format(conditions=asked), parameters))


def by_agent(tx: Transaction, asked: Conditions) -> dict[str, int]:
    """How many are by whom."""
    return dict(tx.all(BY_AGENT.format(conditions=asked), asked.parameters))


def by_path(tx: Transaction, asked: Conditions) -> dict[str, int]:
    """How many stand where."""
    return dict(tx.all(BY_PATH.format(conditions=asked), asked.parameters))


def by_type(tx: Transaction, asked: Conditions, usual_type: str) -> dict[str, int]:
    """How many are of which memory type."""
    parameters = asked.parameters | {"usual_type": usual_type}
    return dict(tx.all(BY_TYPE.format(conditions=asked), parameters))


def confidences(tx: Transaction, asked: Conditions) -> list[float]:
    """The mean confidence of each path."""
    return [mean for (mean,) in tx.all(CONFIDENCE_BY_PATH.format(conditions=asked), asked.parameters)]


def pairs(tx: Transaction, asked: Conditions) -> list[Pair]:
    """Agents and paths, by path, then by how many entries, then by agent."""
    return [Pair(*row) for row in tx.each(PAIRS.format(conditions=asked), asked.parameters)]


def entities(tx: Transaction, asked: Conditions, rule: TokenRule, page: Page) -> list[Entity]:
    """Paths, in the order of the page."""
    parameters = asked.parameters | rule._asdict()
    parameters |= {
        "writer": page.writer,
        "least": page.min_confidence,
        "limit": -1 if page.limit is None else page.limit,
        "offset": page.offset,
    }
    order = f" ORDER BY {ENTITY_ORDERS[page.order]} LIMIT :limit OFFSET :offset"
    return [Entity(*row) for row in tx.each(ENTITIES.format(conditions=asked) + order, parameters)]


def large_paths(tx: Transaction, asked: Conditions, *, min_entries: int, limit: int) -> list[str]:
    """Where at least so many stand, most first, then by path."""
    parameters = asked.parameters | {"least": min_entries, "limit": limit}
    return [path for (path,) in tx.each(LARGE.format(conditions=asked), parameters)]


def scopes(tx: Transaction, asked: Conditions) -> list[tuple[str, str]]:
    """Each path with each of its authors."""
    rows = tx.each(seen(tx, SCOPES.format(conditions=asked)), asked.parameters)
    return [(path, agent) for path, agent in rows]


def beside(tx: Transaction, asked: Conditions, key_limit: int) -> tuple[int, int, list[str]]:
    """How many match, how many of them were never read, and the first keys."""
    entry_count, unread_count = tx.row(seen(tx, BESIDE.format(conditions=asked)), asked.parameters)
    first = seen(tx, KEYS_BESIDE.format(conditions=asked))
    keys = tx.each(first, asked.parameters | {"limit": key_limit})
    return entry_count, unread_count, [key for (key,) in keys]


def authors(tx: Transaction, refs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Who wrote the current versions at these addresses, by path and key."""
    asked = Conditions.here(tx)
    parameters = asked.parameters | {"refs": encode([list(ref) for ref in refs], "refs")}
    rows = tx.each(AUTHORS.format(conditions=asked), parameters)
    return {(path, key): agent for path, key, agent in rows}
