"""The MCP server: parse, call one operation, render."""
