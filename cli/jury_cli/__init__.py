"""The `jury` command: a module a subcommand, or a few that belong together.

stdout is data, stderr everything else.
"""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
