"""Checks of parameters, data and starts: one clear sentence each."""
