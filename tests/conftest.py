"""What all tests share: random tests draw from fixed seeds, so that a run can be repeated; `-m long` widens them."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed", derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("fixed")
