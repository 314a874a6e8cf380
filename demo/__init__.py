"""Two agents in two processes on one file: `python -m demo`, offline and the same every time."""
