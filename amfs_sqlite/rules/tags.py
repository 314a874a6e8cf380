"""Tags: what may be made, and what is said where that cannot be."""

from datetime import datetime

from amfs_sqlite.errors import InvalidArgumentError, quoted
from amfs_sqlite.records.tags import Tag
from amfs_sqlite.rules.commits import checked_model
from amfs_sqlite.rules.limits import check_name, check_optional_name
from amfs_sqlite.rules.values import encode

ID_DIGITS = 32


def prepared(given: Tag, tag_id: str, namespace: str, now: datetime) -> tuple[Tag, str]:
    """A tag to be stored under this id, and its text. Raises InvalidArgumentError."""
    tag = checked_model(given, Tag, "tag", id=tag_id, namespace=namespace, created_at=now)
    for argument in ("name", "branch", "created_by"):
        check_name(getattr(tag, argument), argument)
    for argument in ("description", "event_id"):
        check_optional_name(getattr(tag, argument), argument)
    if not tag.name:
        raise InvalidArgumentError("name", "is empty; a tag needs one")
    encode(tag.model_extra or {}, "tag")
    return tag, encode(tag.to_wire(), "tag")


def taken(name: str) -> InvalidArgumentError:
    """What is said where a name has been given before."""
    return InvalidArgumentError("name", f"{quoted(name)} is a tag already; choose another name or delete it")


def not_found(name: str) -> InvalidArgumentError:
    """That there is no such tag."""
    return InvalidArgumentError("name", f"is {quoted(name)}, which no tag has; list them to see")
