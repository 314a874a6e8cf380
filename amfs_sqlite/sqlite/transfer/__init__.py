"""The whole store as lines, and stored from lines."""
