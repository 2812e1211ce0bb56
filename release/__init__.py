"""What a release needs, step by step: `make release`."""
