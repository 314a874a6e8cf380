"""An installed copy has no harness; and the harness needs processes that can be killed and forked."""

import os

from parity_tests.docs.pages import IS_CLONE

collect_ignore_glob = [] if IS_CLONE and os.name == "posix" else ["test_*.py"]
