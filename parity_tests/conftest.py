"""What every test may ask for: an adapter of each kind, a clock that stands, ids that count."""

from collections.abc import AsyncIterator, Callable, Sequence
from operator import attrgetter
from pathlib import Path

import pytest

pytest.register_assert_rewrite("parity_tests.state")

from amfs_sqlite import HANDOFF, AmfsAdapter, FixedClock  # noqa: E402 - after the line above
from parity_tests import adapters  # noqa: E402 - after the line above

NAME = attrgetter("name")
KINDS_FOR = pytest.StashKey[Callable[[pytest.Metafunc], Sequence[adapters.AdapterKind]]]()
"""Where a plugin says, test by test, on which adapters it is to run instead of on those of `KINDS`."""


def pytest_configure(config: pytest.Config) -> None:
    # Said here and not only in pyproject.toml: an installed copy of the suite has none.
    config.option.anyio_mode = "auto"
    config.addinivalue_line("markers", "behaviour(*ids): what of the ledger a test proves")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kinds_for = metafunc.config.stash.get(KINDS_FOR, lambda _metafunc: adapters.KINDS)
    for fixture, is_wanted in (("adapter_kind", lambda _kind: True), ("open_shared", attrgetter("shares"))):
        if fixture in metafunc.fixturenames:
            kinds = [kind for kind in kinds_for(metafunc) if is_wanted(kind)]
            metafunc.parametrize(fixture, kinds, indirect=True, ids=NAME)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def clock() -> FixedClock:
    """Stands at 2026-01-01T00:00:00Z until a test sets it."""
    return FixedClock()


@pytest.fixture
def adapter_kind(request: pytest.FixtureRequest) -> adapters.AdapterKind:
    """Each kind of adapter."""
    kind: adapters.AdapterKind = request.param
    return kind


@pytest.fixture
async def open_adapter(
    adapter_kind: adapters.AdapterKind, tmp_path: Path, clock: FixedClock
) -> AsyncIterator[adapters.AdapterOpener]:
    """Opens more adapters of the kind, with other options."""
    opener = adapters.AdapterOpener(adapter_kind, tmp_path, clock)
    async with opener.opened:
        yield opener


@pytest.fixture
async def adapter(open_adapter: adapters.AdapterOpener) -> AmfsAdapter:
    """An open adapter of each kind, under AMFS's outcome policy."""
    return await open_adapter()


@pytest.fixture
async def handoff_adapter(open_adapter: adapters.AdapterOpener) -> AmfsAdapter:
    """An open adapter of each kind, under the handoff outcome policy."""
    return await open_adapter(outcomes=HANDOFF)


@pytest.fixture
async def open_shared(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FixedClock
) -> AsyncIterator[adapters.AdapterOpener]:
    """Opens adapters of each kind that shares: the same `store` is the same data."""
    opener = adapters.AdapterOpener(request.param, tmp_path, clock)
    async with opener.opened:
        yield opener
