"""Handoff packets: what one agent gives and another takes, pinned to exact versions of records."""
