"""The variables that Ray reads. Those that it reads when it is imported are set here: import this before Ray."""

import os

MODE = "RAY_AUTH_MODE"
ONE_MACHINE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Off, on any system: the node's address is the loopback address, to which every server of Ray binds then."""

WORKER_NICENESS = "RAY_worker_niceness"
"""Ray's default is 15, so that nodes answer while workers compute; here the workers are the command."""

for _name, _value in {
    # `uv run` would zip the working directory, with .env and the database, into the cluster.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # A driver waits for the first workers of its cluster, for ever if Ray has given them up: 60 s is too soon.
    "RAY_worker_register_timeout_seconds": "300",
}.items():
    os.environ.setdefault(_name, _value)
