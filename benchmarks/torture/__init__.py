"""Real processes on one file, killed, crowded, starved and cut off; what they were told is kept outside."""
