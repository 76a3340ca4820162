"""`python -P -m recalld.daemon` is the daemon process."""

from .main import main

raise SystemExit(main())
