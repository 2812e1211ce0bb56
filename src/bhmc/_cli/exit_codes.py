"""Exit codes of the command line."""

OK, UNEXPECTED, REFUSED, UNWRITTEN, DIFFERENT, INTERRUPTED = 0, 1, 2, 3, 4, 130
