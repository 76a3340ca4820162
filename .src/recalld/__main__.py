"""`python -m recalld` is the `recalld` command."""

from recalld.client.cli import main

raise SystemExit(main())
