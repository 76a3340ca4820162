"""Who may reach what: namespaces, checkouts, grants, tokens, discovery record, hello, keys."""
