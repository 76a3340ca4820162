"""Hooks: an agent's events go to the daemon, and what the daemon knows goes back to the agent.

`recalld hook HOST` runs as one short process for each event. It always ends within its budget, with
exit code 0 and output that is valid for its host; an event that cannot be delivered is spooled.
"""
