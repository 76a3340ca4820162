"""MCP for any host: a few tools over the same operations as the HTTP routes."""
