"""Connecting recalld to the agents here: our entries in their settings, and nothing else.

Settings are other programs' files that people edit by hand. They are changed as text, by inserting
what is ours, so that comments, order, indentation and unknown keys stay as they are; and what was
there before is kept, so that disconnecting gives it back byte for byte.
"""
