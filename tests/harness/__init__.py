"""What the tests share: command line, daemons, checkouts and HTTP, all of them real."""
