"""Tags as the SDK means them, kept under the namespace that it names."""

from amfs_core.models import Tag

from amfs_sqlite.models import DEFAULT_NAMESPACE
from amfs_sqlite.records.tags import Tag as StoredTag
from amfs_sqlite.sqlite import tags
from amfs_sqlite.sqlite.transaction import Transaction
from amfs_sqlite.sync.arguments import checked, under
from amfs_sqlite.sync.translation import ours, theirs


def create_tag(tx: Transaction, tag: Tag) -> Tag:
    given = ours(checked(tag, Tag, "tag"), StoredTag, "tag")
    with under(tx, tag.namespace):
        return theirs(tags.create_tag(tx, given), Tag)


def get_tag(tx: Transaction, name: str, namespace: str = DEFAULT_NAMESPACE) -> Tag | None:
    with under(tx, namespace):
        found = tags.get_tag(tx, name)
    return None if found is None else theirs(found, Tag)


def list_tags(tx: Transaction, namespace: str = DEFAULT_NAMESPACE, *, branch: str | None = None) -> list[Tag]:
    with under(tx, namespace):
        return [theirs(tag, Tag) for tag in tags.list_tags(tx, branch=branch)]


def delete_tag(tx: Transaction, name: str, namespace: str = DEFAULT_NAMESPACE) -> None:
    with under(tx, namespace):
        tags.delete_tag(tx, name)
