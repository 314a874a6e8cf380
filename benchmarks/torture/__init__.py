"""Real processes on one file, killed, crowded, starved and cut off; and what they were told, kept outside it."""
