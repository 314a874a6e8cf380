"""`python -m bridge.cli` is the command `amfs-sqlite`."""

import sys

from bridge.cli.main import main

sys.exit(main())
