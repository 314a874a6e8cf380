"""References as text: ``path/key`` or ``path/key@version``, where a '/' or '@' may belong to a name."""

from amfs_sqlite.models import EntryRef


def splits(text: str) -> list[tuple[str, str]]:
    """Every address the text could mean, the split at the last '/' first.

    >>> splits("a/b/c")
    [('a/b', 'c'), ('a', 'b/c')]
    """
    cuts = [i for i, character in enumerate(text) if character == "/"]
    return [(text[:i], text[i + 1 :]) for i in reversed(cuts) if 0 < i < len(text) - 1]


def readings(text: str) -> list[EntryRef]:
    """Every reference the text could mean: with the part behind the last '@' as a version, and
    without.

    >>> [str(ref) for ref in readings("a/k@2")], len(readings("a/k@2"))
    (['a/k@2', 'a/k@2'], 2)
    """
    head, at, digits = text.rpartition("@")
    found = []
    if at and digits.isascii() and digits.isdecimal() and 0 < int(digits[:20]) < 2**63:
        found += [EntryRef(entity_path=p, key=k, version=int(digits)) for p, k in splits(head)]
    return found + [EntryRef(entity_path=p, key=k) for p, k in splits(text)]
