"""From needing the daemon to an answer: find it, prove it, start it, speak to it."""
