"""Tags: making, reading and deleting them."""

from collections.abc import Sequence

from amfs_sqlite.records.tags import Tag
from amfs_sqlite.reference.store import State, Store
from amfs_sqlite.rules import tags as rules
from amfs_sqlite.rules.limits import check_is_text, check_optional_text
from amfs_sqlite.rules.values import decode


def create_tag(store: Store, tag: Tag) -> Tag:
    made, record = rules.prepared(tag, store.ids.hex(rules.ID_DIGITS), store.namespace, store.clock.now())

    def work(state: State) -> Tag:
        if made.name in state.tags:
            raise rules.taken(made.name)
        state.tags[made.name] = record
        return _shown(record)

    return store.change(work)


def get_tag(store: Store, name: str) -> Tag | None:
    check_is_text(name, "name")
    record = store.state.tags.get(name)
    return None if record is None else _shown(record)


def list_tags(store: Store, *, branch: str | None = None) -> Sequence[Tag]:
    check_optional_text(branch, "branch")
    tags = [_shown(record) for _, record in sorted(store.state.tags.items())]
    found = [tag for tag in tags if branch in (None, tag.branch)]
    return sorted(found, key=lambda tag: tag.tagged_at, reverse=True)


def delete_tag(store: Store, name: str) -> None:
    check_is_text(name, "name")

    def work(state: State) -> None:
        if state.tags.pop(name, None) is None:
            raise rules.not_found(name)

    store.change(work)


def _shown(record: str) -> Tag:
    return Tag.from_wire(decode(record))
