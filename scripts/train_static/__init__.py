"""Makes the static WordPiece table of the default embedder from the text of registry packages."""
