"""What an attacker may try, each over every operation."""
