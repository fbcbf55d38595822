"""The log: events in a SQL store, the lists that are read from them, leases, seals and keys."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
