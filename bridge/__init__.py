"""What agents do with a memory: remember, hand work over, learn from outcomes.

Built on the adapter protocol alone. ``bridge.operations`` is what a user can do, once; the faces
(MCP server, command line) parse, call one operation, and render.
"""
