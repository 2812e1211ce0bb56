"""Start, sweep, run: chains of states. No mathematics."""
