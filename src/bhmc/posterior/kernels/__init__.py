"""Compiled loops over rows and draws: matching nodes, and searching the nearest partition."""
