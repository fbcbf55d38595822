"""The events of a debate: frozen events, value objects, codec and hash chain. No database, no clock."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
