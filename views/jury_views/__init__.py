"""Recorded debates in the forms that the command, the pages and the Python API share."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
