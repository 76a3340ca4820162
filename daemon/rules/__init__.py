"""Memories as rules: what a session is given at its start, and what becomes or stops being one."""
