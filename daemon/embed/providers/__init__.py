"""Embedders the user brings, a server or a model folder, and what guards recall against them."""
