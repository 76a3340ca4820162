"""Embedders that come with the install, and their weights: nothing to fetch, nobody to ask."""
