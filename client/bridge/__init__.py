"""`recalld mcp`: a host's stdin and stdout carried to the daemon and back."""
