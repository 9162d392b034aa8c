"""`python -m noctule` is the command `noctule`."""

import sys

from noctule.cli import main

if __name__ == "__main__":
    sys.exit(main())
