"""Agents: what may be registered, who is found, and what a directory of them says."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from operator import attrgetter
from typing import Any, NamedTuple, Self, TypeVar

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.modelling import OpenModel
from amfs_sqlite.records.agents import Agent, AgentPage, AgentSummary
from amfs_sqlite.rules.commits import checked_model
from amfs_sqlite.rules.limits import (
    check_count,
    check_is_text,
    check_name,
    check_optional_text,
    check_several,
    check_texts,
    check_whole_number,
)
from amfs_sqlite.rules.values import encode

Said = TypeVar("Said", bound=OpenModel)

ID_DIGITS = 32
LEARNED_FROM = "learned_from"
"""The relation from an agent to one whose entries it read."""
USUAL_MEMORY_TYPE = "fact"
ACTIVE = timedelta(days=7)
MAX_DAYS = 3_660

BY_NAME = "agent_id"
MOST_FIRST = ("last_active", "entries_written", "created_at")
ORDERS = (*MOST_FIRST, BY_NAME)
"""The fields that a directory may be sorted by."""


class Work(NamedTuple):
    """The current entries of one agent, path and memory type: how many, and when the newest was written."""

    entity_path: str
    memory_type: str
    entry_count: int
    newest: datetime


@dataclass(frozen=True, slots=True)
class Asked:
    """Which part of a directory is asked for."""

    agent_ids: Sequence[str] | None
    q: str | None
    platform: str | None
    sort: str
    limit: int | None
    offset: int

    def checked(self) -> Self:
        """The same. Raises InvalidArgumentError for what cannot be asked."""
        if self.agent_ids is not None:
            check_texts(self.agent_ids, "agent_ids")
        check_optional_text(self.q, "q")
        check_optional_text(self.platform, "platform")
        if self.sort not in ORDERS:
            raise InvalidArgumentError(
                "sort", f"is {quoted(self.sort)}; it must be one of {', '.join(ORDERS)}"
            )
        check_count(self.limit, "limit")
        check_whole_number(self.offset, "offset")
        return self

    def lets_through(self, agent: AgentSummary) -> bool:
        """Whether an agent has the text and is of the platform asked for."""
        if self.platform and agent.platform != self.platform:
            return False
        texts = (agent.agent_id, agent.description, agent.model, agent.platform, agent.primary_repo)
        needle = (self.q or "").casefold()
        return any(needle in text.casefold() for text in texts if text is not None)

    def page(self, agents: Iterable[AgentSummary], now: datetime) -> AgentPage:
        """The part asked for, and how many there are in all."""
        wanted = None if self.agent_ids is None else frozenset(self.agent_ids)
        known = (agent for agent in agents if wanted is None or agent.agent_id in wanted)
        found = sorted(filter(self.lets_through, known), key=attrgetter(BY_NAME))
        if self.sort in MOST_FIRST:  # equals stay in the order of their names
            found.sort(key=attrgetter(self.sort), reverse=True)
        return AgentPage(
            agents=tuple(found[self.offset :][: self.limit]),
            total=len(found),
            active_7d=sum(agent.last_active >= now - ACTIVE for agent in found),
        )


def registered(
    agent_id: str, known: Agent | None, new_id: Callable[[], str], namespace: str, now: datetime
) -> Agent:
    """An agent as it is active now, as it was ``known`` or for the first time."""
    if known is None:
        return Agent(id=new_id(), namespace=namespace, agent_id=agent_id, created_at=now, last_active_at=now)
    return known.copied(last_active_at=max(now, moment_of(known)))


def moment_of(agent: Agent) -> datetime:
    """When a registered agent was last known to be active."""
    return agent.last_active_at or datetime.min.replace(tzinfo=UTC)


def checked_said(given: object, kind: type[Said], argument: str) -> Said:
    """What an agent says of itself, as it may be stored. Raises InvalidArgumentError."""
    said = checked_model(given, kind, argument)
    # Not its wire form, in which NaN has become null.
    fields = said.__dict__ | (said.model_extra or {})
    encode({name: list(each) if isinstance(each, tuple) else each for name, each in fields.items()}, argument)
    return said


def checked_each(given: Collection[object], kind: type[Said], argument: str) -> tuple[Said, ...]:
    """Several of what an agent says of itself, as they may be stored. Raises InvalidArgumentError."""
    check_several(given, argument)
    return tuple(checked_said(each, kind, argument) for each in given)


def check_discovery(capability: str | None, entity_path: str | None) -> None:
    """What agents are looked for by."""
    check_optional_text(capability, "capability")
    check_optional_text(entity_path, "entity_path")


def is_discovered(agent: Agent, capability: str | None, entity_path: str | None) -> bool:
    """Whether an agent has this capability and concerns this path, None and empty being any.

    >>> from amfs_sqlite.records.agents import AgentCapability
    >>> agent = Agent(agent_id="a", capabilities=[AgentCapability(name="sql", entity_paths=["db/main"])])
    >>> is_discovered(agent, "sql", "db"), is_discovered(agent, "sql", "web"), is_discovered(agent, "css", "")
    (True, False, False)
    """
    if capability and all(each.name != capability for each in agent.capabilities):
        return False
    paths = [path for each in agent.capabilities for path in each.entity_paths]
    paths += agent.profile.auto_context_paths if agent.profile else ()
    return not entity_path or any(
        path.startswith(entity_path) or entity_path.startswith(path) for path in paths
    )


def summary(
    agent: Agent, work: Sequence[Work], collaborators: Iterable[str], group_id: str | None
) -> AgentSummary:
    """A line of a directory."""
    by_type: Counter[str] = Counter()
    by_repo: Counter[str] = Counter()
    for each in work:
        by_type[each.memory_type] += each.entry_count
        by_repo[each.entity_path.partition("/")[0]] += each.entry_count
    profile = agent.profile
    said = (profile.model_extra or {}) if profile else {}
    paths = sorted({each.entity_path for each in work})
    return AgentSummary(
        agent_id=agent.agent_id,
        created_at=agent.created_at or moment_of(agent),
        entries_written=by_type.total(),
        entities_touched=len(paths),
        last_active=max([moment_of(agent), *(each.newest for each in work)]),
        primary_repo=min(by_repo, key=lambda repo: (-by_repo[repo], repo), default=None),
        entity_paths=tuple(paths),
        type_dist=dict(sorted(by_type.items())),
        collaborators=tuple(sorted(set(collaborators))),
        group_id=group_id,
        platform=_first_text(said, (profile and profile.session_metadata) or {}, "platform"),
        model=_first_text(said, (profile and profile.session_metadata) or {}, "model"),
        inferred_tags=_tags(said.get("inferred_tags"), profile.tags if profile else ()),
        description=profile.description if profile else None,
    )


def memory_type(extra: Mapping[str, Any]) -> str:
    """The memory type that an entry's unknown fields tell; ``fact`` where they tell none."""
    told = extra.get("memory_type")
    return told if isinstance(told, str) else USUAL_MEMORY_TYPE


def check_days(agent_id: str, days: int) -> None:
    """Whose activity is asked for, and how many days back."""
    check_is_text(agent_id, "agent_id")
    check_whole_number(days, "days")
    if days > MAX_DAYS:
        raise InvalidArgumentError("days", f"is {days}; the limit is {MAX_DAYS}")


def last_days(days: int, now: datetime) -> list[date]:
    """That many days up to today, in UTC.

    >>> last_days(2, datetime(2026, 1, 1, 12, tzinfo=UTC))
    [datetime.date(2025, 12, 31), datetime.date(2026, 1, 1)]
    """
    return [now.date() - timedelta(days=back) for back in reversed(range(days))]


def check_agent_id(agent_id: str) -> None:
    """The name of an agent that may be registered."""
    check_name(agent_id, "agent_id")


def _first_text(said: Mapping[str, Any], session: Mapping[str, Any], name: str) -> str | None:
    told = (said.get(name), session.get(name))
    return next((each for each in told if isinstance(each, str)), None)


def _tags(inferred: object, declared: Sequence[str]) -> tuple[str, ...]:
    if isinstance(inferred, list):
        return tuple(each for each in inferred if isinstance(each, str))
    return tuple(declared)
