"""Exit codes of the command line."""

OK, UNEXPECTED, REFUSED, INTERRUPTED = 0, 1, 2, 130
