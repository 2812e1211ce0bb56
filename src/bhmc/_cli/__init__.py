"""The command line `bhmc`. Importing this must stay light: `bhmc --help` comes at once."""

from bhmc._cli.main import main

__all__ = ["main"]
