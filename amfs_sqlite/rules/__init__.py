"""Decisions every adapter shares: pure functions, without I/O, clock or SQL."""
