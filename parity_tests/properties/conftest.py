"""How much chance: a little and always the same by default, much and always new in a soak."""

import pytest
from hypothesis import HealthCheck, Phase, settings

CI, SOAK = "parity", "soak"

# A slow or busy machine is no fault, so nothing here goes by the clock on the wall.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile(
    CI,
    UNTIMED,
    max_examples=25,
    stateful_step_count=10,
    database=None,
    # So short a run can be read as it is; to shorten it would take longer than a test may.
    phases=[Phase.generate],
)
settings.register_profile(SOAK, UNTIMED, max_examples=250, stateful_step_count=30, print_blob=True)


@pytest.fixture
def profile(request: pytest.FixtureRequest) -> str:
    """The profile asked for with `--hypothesis-profile`, or the short one."""
    return request.config.getoption("--hypothesis-profile") or CI
