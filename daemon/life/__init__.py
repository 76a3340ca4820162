"""The life of the process: alone, ready, looked after, ended in order."""
