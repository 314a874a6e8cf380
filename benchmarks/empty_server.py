"""The least an MCP server can be: one tool that does nothing. `python -m benchmarks.empty_server`."""

from mcp.server import MCPServer

server = MCPServer("empty", log_level="WARNING")


@server.tool()
def nothing() -> str:
    """Do nothing."""
    return ""


if __name__ == "__main__":
    server.run("stdio")
