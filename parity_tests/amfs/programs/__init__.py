"""The SDK's own programs, unmodified, each in a process of its own, on a file of ours."""
