"""Debates over HTTP: pages, an API and live events."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
