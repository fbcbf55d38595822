"""A program: the `jury` command that is sent a signal at the moment when it begins to import a module.

`python -m support.signalled SIGTERM sqlalchemy list` calls `jury list` so.
"""

import os
import signal
import sys
from importlib.machinery import ModuleSpec


class Moment:
    """An importer that finds nothing, and sends the signal when it is asked for the module."""

    def __init__(self, module: str, number: signal.Signals) -> None:
        self._module = module
        self._number = number

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if name == self._module:
            os.kill(os.getpid(), self._number)
        return None


if __name__ == "__main__":
    _, number, module, *arguments = sys.argv
    sys.argv = ["jury", *arguments]
    sys.meta_path.insert(0, Moment(module, signal.Signals[number]))
    from jury_cli.entry import main

    main()
