"""Exit codes of the command line."""

OK, UNEXPECTED, REFUSED, DIFFERENT, INTERRUPTED = 0, 1, 2, 3, 130
