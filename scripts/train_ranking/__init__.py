"""Teaches the trees of the second ranking (daemon/recall/rerank.py) from judged questions."""
