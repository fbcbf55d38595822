"""What all tests share: random tests draw from fixed seeds, so that a run can be repeated; `-m long` widens them."""

import os
import signal
import sys

from hypothesis import HealthCheck, settings

# Tests start hundreds of processes: where bytecode is not kept, each of them compiles all that it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Under `uv run` Ray would make an environment for each worker; it reads this when it is imported.
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")

# A shell that runs the tests in the background has SIGINT ignored, and commands that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "fixed", derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("fixed")
