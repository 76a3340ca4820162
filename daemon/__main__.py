"""`python -P -m recalld.daemon` is the daemon process."""

from .life.exits import leave
from .main import main

leave(main())
