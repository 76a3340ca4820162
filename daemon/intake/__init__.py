"""From what a client sends to what the store keeps."""
