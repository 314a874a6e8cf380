"""What an adapter claims, and what becomes of a test that asks for more."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from amfs_sqlite import AMFS_0_3, AmfsAdapter, CountedIds, FixedClock, ReferenceAdapter
from amfs_sqlite.protocol import Entries, Lifecycle, Search, Statistics
from parity_tests.conformance.candidates import Candidate
from parity_tests.ledger import proves
from parity_tests.nouns import NOUNS, claimed, lacking
from parity_tests.state import answers


class LifecycleAlone(Lifecycle):
    """Opens and closes, and inherits everything else unimplemented."""

    __slots__ = ()

    namespace = property(lambda _self: "default")
    policy_name = property(lambda _self: "amfs-0.3")

    async def open(self) -> None:
        return None

    async def close(self) -> None:
        return None

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *raised: object) -> None:
        return None


class Inheriting(LifecycleAlone, Search, Statistics):
    """Of two more nouns it has the names, and does one of their three operations."""

    __slots__ = ()

    async def stats(self, **_options: Any) -> Any:
        return None


class Ducking:
    """Claims a noun without naming its protocol."""

    async def search(self, _query: Any, **_options: Any) -> Any:
        return None


def made(kind: Any) -> tuple[Candidate, AmfsAdapter]:
    def factory(path: Path, **options: Any) -> Any:
        return kind()

    candidate = Candidate("mine", factory)
    options: dict[str, Any] = {"outcomes": AMFS_0_3, "clock": FixedClock(), "ids": CountedIds()}
    return candidate, candidate.make(Path("unused"), namespace="default", **options)


@proves("conformance.claims")
@pytest.mark.parametrize(
    ("kind", "nouns"),
    [
        (ReferenceAdapter, tuple(NOUNS)),
        (AmfsAdapter, ()),
        (Entries, ()),
        (LifecycleAlone, ("Lifecycle",)),
        (Inheriting, ("Lifecycle",)),
        (Ducking, ("Search",)),
        (object, ()),
    ],
)
def test_a_noun_is_claimed_by_implementing_all_of_it(kind: type, nouns: tuple[str, ...]) -> None:
    assert claimed(kind) == nouns


@proves("conformance.claims")
def test_what_is_lacking_is_named() -> None:
    assert lacking(Inheriting)["Statistics"] == ("scopes",)
    assert lacking(Inheriting)["Lifecycle"] == ()
    assert lacking(Ducking)["Search"] == ()


@proves("conformance.not-claimed")
@pytest.mark.parametrize("kind", [LifecycleAlone, Inheriting])
async def test_what_is_not_claimed_ends_the_test_that_calls_it_and_is_told(kind: type) -> None:
    candidate, adapter = made(kind)
    with pytest.raises(pytest.skip.Exception):
        await adapter.read("p", "k")
    with pytest.raises(pytest.skip.Exception):
        await adapter.stats()
    assert candidate.needed == {"Entries", "Statistics"}
    assert claimed(type(adapter)) == ("Lifecycle",)


@proves("conformance.not-claimed")
async def test_it_is_told_though_the_test_takes_it_for_an_error_of_the_adapter() -> None:
    candidate, adapter = made(LifecycleAlone)

    async def asks() -> None:
        await adapter.verify()

    results = await asyncio.gather(asks(), return_exceptions=True)
    assert [type(each) for each in results] == [pytest.skip.Exception]
    assert candidate.needed == {"Integrity"}


@proves("conformance.not-claimed")
async def test_a_state_is_what_the_nouns_claimed_answer() -> None:
    _, adapter = made(LifecycleAlone)
    assert await answers(adapter) == {}


@proves("conformance.claims")
async def test_an_adapter_that_claims_everything_is_left_as_it_is() -> None:
    _, adapter = made(ReferenceAdapter)
    assert type(adapter) is ReferenceAdapter
