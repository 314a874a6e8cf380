"""The command `amfs-sqlite`: each subcommand parses, calls one operation, and renders."""
