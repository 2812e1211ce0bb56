"""Speed, memory and cold start, measured as ratios in one run."""
