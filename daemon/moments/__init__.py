"""What is done and said at each moment of an agent's session, one file a moment."""
