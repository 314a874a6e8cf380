"""The README and the documentation say what is so: what can be run in them is run, and the rest is held."""
