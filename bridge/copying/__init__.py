"""Copying one memory into another, whatever keeps either: by what every adapter of the AMFS SDK can do."""
