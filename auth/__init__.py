"""Who may reach what: namespaces, checkouts, grants, tokens, the discovery record, hello, signing keys."""
