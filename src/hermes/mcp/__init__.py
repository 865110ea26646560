"""Tools of MCP servers, over the official SDK, which is imported when a server is configured."""
