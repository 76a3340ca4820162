"""The socket, its connections, and the limits each of them has."""
