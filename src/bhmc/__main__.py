"""`python -m bhmc` is the command `bhmc`."""

import sys

from bhmc._cli import main

if __name__ == "__main__":
    sys.exit(main())
