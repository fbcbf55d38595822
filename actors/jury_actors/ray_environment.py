"""The variables that Ray reads. Those that it reads when it is imported are set here: import this before Ray."""

import os

MODE = "RAY_AUTH_MODE"
ONE_MACHINE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Off, on any system: the node's own address is the loopback one, and to that every server of Ray binds."""

WORKER_NICENESS = "RAY_worker_niceness"
"""15 by default, since a cluster's nodes should answer whatever its workers do; here the workers are the command."""

for _name, _value in {
    # `uv run` would zip the working directory, with .env and the database, into the cluster.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}.items():
    os.environ.setdefault(_name, _value)
