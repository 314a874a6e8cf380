"""Snapshots that belong to a story, never to an adapter: one for all of them.

Left to itself, syrupy names a snapshot after the test with its parameters: adapters that disagree
would each get one of their own, and all would pass.
"""

import os

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.amber import AmberSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from parity_tests import adapters


class OneForAllExtension(AmberSnapshotExtension):
    """Names a snapshot after its test and the name it was given there, and nothing else."""

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        return f"{test_location.methodname}[{index}]"


@pytest.fixture
def snapshot(snapshot: SnapshotAssertion, adapter_kind: adapters.AdapterKind) -> SnapshotAssertion:
    """Compares with the one snapshot; updates come from the oracle alone, and never in CI."""
    if snapshot.update_snapshots or snapshot.update_new_snapshots_only:
        if os.environ.get("CI"):
            pytest.fail("snapshots are not updated in CI: update them where they can be looked at")
        if adapter_kind.name != adapters.ORACLE:
            pytest.skip(f"snapshots are taken from {adapters.ORACLE} alone; compare without update")
    return snapshot.use_extension(OneForAllExtension)
