"""What was kept of the chains, and what it says."""
