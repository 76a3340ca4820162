"""`python -P -m recalld.daemon` is the daemon process."""

from .exits import leave
from .main import main

leave(main())
