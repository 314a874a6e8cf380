"""The file as the rest sees it: connections and threads, transactions, locks, and what is at its path."""
