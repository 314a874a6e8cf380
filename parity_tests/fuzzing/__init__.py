"""Lines by chance for a server on standard input and output, and what must hold whatever they are."""
