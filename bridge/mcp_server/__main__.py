"""`python -m bridge.mcp_server` is the command `amfs-sqlite-mcp`."""

import sys

from bridge.mcp_server.main import main

sys.exit(main())
