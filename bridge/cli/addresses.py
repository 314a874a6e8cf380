"""One record, as people name it: SCOPE KEY, or SCOPE/KEY in one word."""

from collections.abc import Sequence

import click

from amfs_sqlite.errors import AmfsError, EntryNotFoundError, InvalidArgumentError, quoted
from amfs_sqlite.models import EntryRef
from bridge import rendering
from bridge.operations import references, search
from bridge.session import Session

RECORDS_NAMED = 5


class ScopeNamedError(AmfsError, LookupError):
    """A scope, where one record was to be named."""

    code = "scope_named"

    def __init__(self, scope: str, refs: Sequence[EntryRef], *, more: bool) -> None:
        self.scope = scope
        self.refs = tuple(refs)
        self.more = more
        named = ", ".join(rendering.word(str(ref)) for ref in refs)
        rest = ", and more" if more else ""
        super().__init__(f"{quoted(scope)} is a scope, not a record; name one in it: {named}{rest}")


def _one_or_two(context: click.Context, _: click.Parameter, words: Sequence[str]) -> Sequence[str]:
    if len(words) > 2:
        problem = f"These are {len(words)} words; name one record, as SCOPE KEY or as SCOPE/KEY."
        raise click.UsageError(problem, context)
    return words


address_argument = click.argument(
    "words", nargs=-1, required=True, metavar="SCOPE KEY | SCOPE/KEY", callback=_one_or_two
)


async def address(session: Session, words: Sequence[str]) -> EntryRef:
    """The address that the words name; two of them name it whether it is stored or not, one also where it
    was erased or archived.

    Raises what ``references.resolve`` raises, and ScopeNamedError for one word that is no reference
    but a scope with records in it.
    """
    if len(words) == 2:
        scope, key = words
        return EntryRef(entity_path=scope, key=key)
    (word,) = words
    try:
        return await references.resolve(session, word)
    except (EntryNotFoundError, InvalidArgumentError) as refused:
        if isinstance(refused, EntryNotFoundError) and refused.withdrawn is not None:
            return EntryRef(entity_path=refused.entity_path, key=refused.key)
        if scope := word.rstrip("/"):
            await _refuse_scope(session, scope)
        raise


async def _refuse_scope(session: Session, scope: str) -> None:
    page = await search.recall(session, scope=scope, limit=RECORDS_NAMED)
    if page.entries:
        refs = [EntryRef(entity_path=entry.entity_path, key=entry.key) for entry in page.entries]
        raise ScopeNamedError(scope, refs, more=page.next_cursor is not None) from None
