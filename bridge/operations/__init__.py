"""What a user can do, once: async functions on a session, one module per noun."""
