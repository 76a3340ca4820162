"""From what failed and what worked to lessons and solutions."""
