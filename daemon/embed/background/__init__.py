"""The two threads that give every stored row its vector: one at once, a better one when quiet."""
