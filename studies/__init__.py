"""Studies of the package as a whole: programs that people run, not tests."""
