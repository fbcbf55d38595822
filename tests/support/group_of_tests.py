"""Importing this ends the run with one line where the tests' packages are missing: a pytest of elsewhere runs it."""

from importlib.util import find_spec

import pytest

COMMAND = "uv run --group test pytest"
"""What installs the group `test`, and runs the tests."""

if find_spec("jury_store") is None or find_spec("hypothesis") is None:
    pytest.exit(f"the tests need more than this pytest; run: {COMMAND}", returncode=4)
