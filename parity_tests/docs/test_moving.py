"""What an author of an AMFS agent is told of the names here is so."""

import inspect

from pydantic.alias_generators import to_camel

from amfs_sqlite import AgentMemory
from parity_tests.docs import pages
from parity_tests.ledger import proves

HOW_TO = "docs/how-to/move-an-amfs-agent.md"


@pages.documents_here
@proves("docs.moving")
def test_every_operation_of_agent_memory_is_told_under_both_names() -> None:
    (table,) = pages.tables(HOW_TO)
    named = {ours.strip("`"): theirs.strip("`") for theirs, ours, _ in table[1:]}
    public = {name for name in dir(AgentMemory) if not name.startswith("_")}
    assert set(named) == public
    assert {ours: to_camel(ours) for ours in named} == named


@pages.documents_here
@proves("docs.moving")
def test_what_is_awaited_is_told() -> None:
    (table,) = pages.tables(HOW_TO)
    for _, ours, awaited in table[1:]:
        operation = inspect.getattr_static(AgentMemory, ours.strip("`"))
        assert inspect.iscoroutinefunction(operation) == (awaited == "yes"), ours
