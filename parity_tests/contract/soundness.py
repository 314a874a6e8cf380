"""What holds of every store, whatever was done to it, as far as its adapter can tell."""

from amfs_sqlite import AmfsAdapter
from parity_tests.nouns import claimed


async def is_sound(adapter: AmfsAdapter) -> bool:
    """Whether the adapter finds nothing wrong with its store; one that claims no Integrity is not asked."""
    return "Integrity" not in claimed(type(adapter)) or (await adapter.verify()).ok
