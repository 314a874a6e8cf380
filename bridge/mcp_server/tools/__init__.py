"""The tools: one module per noun. Each parses, calls one operation, and renders."""
