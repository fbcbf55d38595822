"""Adds to an installation from a clone, and to no wheel, the command `pytest`: it names the group that the tests need.

`uv run pytest` in a clone installs the product alone. Without this command uv would say that it cannot spawn `pytest`,
or run one that is somewhere on the PATH, which knows neither the product nor the plugins. Once the group `test` is
installed it does what the command of pytest does: the two have one name, and whichever was written last is there.
"""

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PYTEST = """#!python
import sys
from importlib.metadata import PackageNotFoundError, distribution

try:
    (command,) = distribution("pytest").entry_points.select(group="console_scripts", name="pytest")
except PackageNotFoundError:
    sys.exit("pytest: the tests need more than the product; run: uv run --group test pytest")
if __name__ == "__main__":  # processes that tests start by `spawn` import this file too
    sys.exit(command.load()())
"""


class CloneScripts(BuildHookInterface[Any]):
    """Called by hatchling for each wheel; that of a clone has the version `editable`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the command."""
        if version == "editable":
            script = Path(mkdtemp(), "pytest")
            script.write_text(_PYTEST, encoding="utf-8")
            build_data["shared_scripts"][str(script)] = "pytest"
