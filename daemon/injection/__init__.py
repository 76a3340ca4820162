"""Memories put into an agent's context as data, and taken out of what comes back."""
