"""An installed copy has no harness; and the harness needs processes that can be killed and forked."""

import logging
import os
from collections.abc import Iterator

import pytest

from parity_tests.docs.pages import IS_CLONE

collect_ignore_glob = [] if IS_CLONE and os.name == "posix" else ["test_*.py"]


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """The harness silences the log of its own processes, of which this one may be one."""
    log = logging.getLogger("amfs_sqlite")
    level = log.level
    yield
    logging.disable(logging.NOTSET)
    log.setLevel(level)
