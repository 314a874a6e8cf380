"""References as text, where '/' and '@' may belong to a name."""

import pytest

from amfs_sqlite import (
    AmbiguousReferenceError,
    AmfsAdapter,
    EntryNotFoundError,
    EntryRef,
    InvalidArgumentError,
)
from bridge.errors import ReservedPathError
from bridge.operations import entries, references
from bridge.session import Session
from parity_tests.drafts import at, draft, private
from parity_tests.ledger import proves

NAMES = [
    ("svc/a", "k"),
    ("svc", "a"),
    ("a/b/c", "d/e/f"),
    ("a@1", "b@2"),
    ("x", "@"),
    ("user@host/x", "k"),
    ("a//b", "/k/"),
    ("/", "k"),
    ("/a/", "k"),
    ("a b\n", "k\t"),
    ("路径", "键@9x"),
    ("svc/a", "k@07"),
]


@proves("bridge.references")
@pytest.mark.parametrize(("path", "key"), NAMES)
async def test_what_was_printed_is_understood(alice: Session, path: str, key: str) -> None:
    entry = await alice.adapter.write(draft(path, key))
    assert await references.resolve(alice, str(entry.ref)) == entry.ref
    assert await references.resolve(alice, f"{path}/{key}") == at(path, key)


@proves("bridge.references")
async def test_a_version_that_was_superseded_is_understood(alice: Session) -> None:
    for value in (1, 2):
        await entries.remember(alice, "svc/a", "k", value)
    assert await references.resolve(alice, "svc/a/k@1") == at("svc/a", "k", 1)
    assert await references.resolve(alice, "svc/a/k") == at("svc/a", "k")


@proves("bridge.references")
async def test_only_what_is_stored_counts_as_a_reading(alice: Session) -> None:
    await entries.remember(alice, "a", "b/c", 1)
    assert await references.resolve(alice, "a/b/c") == at("a", "b/c")
    await entries.remember(alice, "x", "y@2", 1)
    assert await references.resolve(alice, "x/y@2") == at("x", "y@2")


@proves("bridge.references-ambiguous")
async def test_two_splits_that_are_stored_are_named(alice: Session) -> None:
    await entries.remember(alice, "a/b", "c", 1)
    await entries.remember(alice, "a", "b/c", 1)
    with pytest.raises(AmbiguousReferenceError) as caught:
        await references.resolve(alice, "a/b/c")
    assert caught.value.candidates == (("a/b", "c"), ("a", "b/c"))


@proves("bridge.references-ambiguous")
async def test_a_version_and_a_key_with_an_at_are_named(alice: Session) -> None:
    for value in (1, 2):
        await entries.remember(alice, "a", "k", value)
    await entries.remember(alice, "a", "k@2", 1)
    with pytest.raises(AmbiguousReferenceError) as caught:
        await references.resolve(alice, "a/k@2")
    assert set(caught.value.candidates) == {("a", "k"), ("a", "k@2")}
    assert await references.resolve(alice, "a/k@1") == at("a", "k", 1)


@proves("bridge.references-ambiguous")
async def test_what_is_hidden_makes_nothing_ambiguous(alice: Session, handoff_adapter: AmfsAdapter) -> None:
    await handoff_adapter.write(private("a", "b/c", agent="bob"))
    with pytest.raises(EntryNotFoundError):
        await references.resolve(alice, "a/b/c")
    await entries.remember(alice, "a/b", "c", 1)
    assert await references.resolve(alice, "a/b/c") == at("a/b", "c")


@proves("bridge.references")
@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("svc/a/k@3", ("svc/a", "k", 3)),
        ("svc/a/q", ("svc/a", "q", None)),
        ("SVC/a/k", ("SVC/a", "k", None)),
        ("svc/a/k@99999999999999999999", ("svc/a", "k@99999999999999999999", None)),
        (" svc/a/k", (" svc/a", "k", None)),
    ],
)
async def test_what_is_not_stored_is_named(
    alice: Session, text: str, missing: tuple[str, str, int | None]
) -> None:
    await entries.remember(alice, "svc/a", "k", 1)
    with pytest.raises(EntryNotFoundError) as caught:
        await references.resolve(alice, text)
    error = caught.value
    assert (error.entity_path, error.key, error.version) == missing


@proves("bridge.references")
@pytest.mark.parametrize("text", ["", "k", "/", "a/", "/k", "\ud83d/k", "/" * 300, "x" * 9000])
async def test_what_is_no_reference_is_refused(alice: Session, text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^ref "):
        await references.resolve(alice, text)


@proves("bridge.references")
async def test_a_reference_of_as_many_parts_as_are_tried_is_understood(alice: Session) -> None:
    path = "/".join("x" * references.MAX_REFERENCE_SLASHES)
    await entries.remember(alice, path, "k", 1)
    assert await references.resolve(alice, f"{path}/k") == at(path, "k")
    with pytest.raises(InvalidArgumentError, match="256"):
        await references.resolve(alice, f"x/{path}/k")


@proves("bridge.reserved")
@pytest.mark.parametrize("text", ["_system/handoff/h_1", "_system/x@1", "_system/k"])
async def test_the_systems_records_cannot_be_referred_to(alice: Session, text: str) -> None:
    with pytest.raises(ReservedPathError):
        await references.resolve(alice, text)


@proves("bridge.references")
async def test_several_references_keep_their_order(alice: Session) -> None:
    for key in ("a", "b"):
        await entries.remember(alice, "svc", key, 1)
    found = await references.resolve_all(alice, ["svc/b@1", "svc/a"])
    assert found == (at("svc", "b", 1), EntryRef(entity_path="svc", key="a"))
    assert await references.resolve_all(alice, []) == ()
    with pytest.raises(InvalidArgumentError, match=r"^refs "):
        await references.resolve_all(alice, "svc/a")
    with pytest.raises(InvalidArgumentError, match=r"^refs\[1\] is 'word'; write it as scope/key"):
        await references.resolve_all(alice, ["svc/a", "word"])
    assert alice.touched_refs() == (at("svc", "a", 1), at("svc", "b", 1))


@proves("bridge.references")
async def test_the_records_that_a_text_may_mean_are_found_without_an_error(
    alice: Session, handoff_adapter: AmfsAdapter
) -> None:
    await entries.remember(alice, "a/b", "c", 1)
    await entries.remember(alice, "a", "b/c", 1)
    await handoff_adapter.write(private("a", "secret", agent="bob"))
    found = await references.records_named(alice, "a/b/c")
    assert found == (at("a/b", "c"), at("a", "b/c"))
    assert await references.records_named(alice, "a/b/c@1") == (at("a/b", "c", 1), at("a", "b/c", 1))
    for nothing in ("", "a", "a/b", "a/b/c@2", "a/secret", "_system/handoff/h_1", "/" * 300, "\ud83d/k"):
        assert await references.records_named(alice, nothing) == ()
