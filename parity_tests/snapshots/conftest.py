from parity_tests.snapshots.one_for_all import snapshot

__all__ = ["snapshot"]
