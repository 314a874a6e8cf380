"""The contestants of ``benchmarks.peers``: a driver for each, run in an environment of its own."""
