"""Thin clients: discovery, SDK, command line, hooks."""
